import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2'
import { Client, type ClientOptions, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { createGrpcServer, type GrpcServerOptions } from '../../deploy/http/grpc-server.ts'
import { EXPORT_PATH } from '../../gateway/otlp/grpc.ts'
import { loadConfig } from '../../shared/runtime/config.ts'
import { createLogger } from '../../shared/runtime/logger.ts'
import type { RunningGateway } from './gateway.ts'
import { responseOf, statusOf } from './otlp-protobuf.ts'

/** The outcome of a call. */
export interface CallEnd {
  readonly code: number
  readonly message: string
  /** The google.rpc.Status of a failure. */
  readonly status?: unknown
  /** The ExportLogsServiceResponse of a success. */
  readonly response?: unknown
}

export interface CallOptions {
  readonly path?: string
  readonly metadata?: Readonly<Record<string, string>>
}

/** Starts the gRPC server of a gateway; returns its port, and a function that stops it. */
export async function startGrpc({ methods, metrics }: RunningGateway, options: Partial<GrpcServerOptions> = {}) {
  const server = createGrpcServer({
    ...{ host: '127.0.0.1', port: 0, setting: 'OTLP_GRPC_PORT', config: loadConfig({}) },
    ...{ methods, metrics, logger: createLogger('silent', 'test'), ...options },
  })
  await server.start()
  return { port: Number(new URL(server.url()).port), stop: (deadline = 0) => server.stop(deadline) }
}

export type GrpcClient = ReturnType<typeof createGrpcClient>

/** A client of a local gRPC server that sends messages unchanged. */
export function createGrpcClient(port: number, key: string, options: ClientOptions = {}) {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options)
  const same = (bytes: Buffer): Buffer => bytes

  function call(message: Buffer, { path = EXPORT_PATH, metadata = {} }: CallOptions = {}): Promise<CallEnd> {
    const sent = new Metadata()
    // An empty value suppresses the metadata.
    for (const [name, value] of Object.entries({ 'x-api-key': key, ...metadata }))
      if (value !== '') sent.set(name, value)
    return new Promise((resolve) => {
      client.makeUnaryRequest(path, same, same, message, sent, (error, answer) =>
        resolve(
          error === null ? { code: 0, message: '', response: responseOf(answer ?? Buffer.alloc(0)) } : endOf(error),
        ),
      )
    })
  }

  return { call, close: () => client.close() }
}

function endOf({ code, details, metadata }: ServiceError): CallEnd {
  const [status] = metadata.get('grpc-status-details-bin')
  return { code, message: details, ...(status !== undefined && { status: statusOf(Buffer.from(status)) }) }
}

/** The headers, trailers and body of a response; headers and trailers are empty if the call was cut off. */
export interface RawEnd {
  readonly headers: Readonly<Record<string, unknown>>
  readonly trailers: Readonly<Record<string, unknown>>
  readonly body: string
  /** The HTTP/2 error code that ended the stream. */
  readonly rstCode: number
}

/** A message with its gRPC frame header. */
export function framed(message: Uint8Array, isCompressed = false): Buffer {
  const prefix = Buffer.from([Number(isCompressed), 0, 0, 0, 0])
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** A call at the HTTP/2 level, whose body is written as given. */
export function beginRaw(session: ClientHttp2Session, key: string, headers: OutgoingHttpHeaders = {}) {
  const given = { ':method': 'POST', ':path': EXPORT_PATH, 'content-type': 'application/grpc', te: 'trailers' }
  const stream = session.request({ ...given, 'x-api-key': key, ...headers })
  const ended = new Promise<RawEnd>((resolve) => {
    let end = { headers: {}, trailers: {}, body: '' }
    stream.on('error', () => undefined)
    stream.on('response', (headers) => {
      end = { ...end, headers }
    })
    stream.on('trailers', (trailers) => {
      end = { ...end, trailers }
    })
    stream.on('data', (chunk) => {
      end = { ...end, body: end.body + chunk }
    })
    stream.on('close', () => resolve({ ...end, rstCode: stream.rstCode }))
  })
  return { stream, ended }
}

/** An HTTP/2 connection to a local port. */
export function connectRaw(port: number): ClientHttp2Session {
  // In megabytes: with the default, the client would reject its own requests.
  const session = connect(`http://127.0.0.1:${port}`, { maxSessionMemory: 10_000 })
  session.on('error', () => undefined)
  return session
}

/** The beginning of an HTTP/2 connection (RFC 9113, 3.4), in raw bytes. */
export const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  rawFrame(4, 0, Buffer.alloc(0), 0),
])

export const DATA = 0
const RST_STREAM = 3
const HEADERS = 1
const END_HEADERS = 4

/** An HTTP/2 frame on stream 1, or another stream. */
export function rawFrame(type: number, flags: number, payload: Uint8Array, stream = 1): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** The headers of a call as a frame, uncompressed. */
export function rawCall(key: string, stream = 1, type = 'application/grpc'): Buffer {
  const headers = {
    ':method': 'POST',
    ':scheme': 'http',
    ':authority': 'x',
    ':path': EXPORT_PATH,
    'content-type': type,
    'x-api-key': key,
  }
  const fields = Object.entries(headers).flatMap(([name, value]) => [0, name.length, name, value.length, value])
  const block = Buffer.concat(
    fields.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part))),
  )
  return rawFrame(HEADERS, END_HEADERS, block, stream)
}

/** Cancels a call. */
export const rawCancel = (stream = 1): Buffer => rawFrame(RST_STREAM, 0, Buffer.from([0, 0, 0, 8]), stream)
