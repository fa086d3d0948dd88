import type { IncomingHttpHeaders } from 'node:http'
import { type Checked, type Problem, problemSaying } from '../../shared/contract/errors.ts'
import { answerCall, type GrpcCall, PREFIX_BYTES } from '../../shared/grpc/call.ts'
import type { BodyBytes } from '../../shared/http/body-bytes.ts'
import { type ContentCoding, contentCoding, quotedHeader } from '../../shared/http/media-type.ts'
import type { BodyFormat, SendReply } from '../ingest/endpoint.ts'
import { PROTOBUF_FORMAT } from './protobuf.ts'

/** The method that takes logs (opentelemetry-proto, collector/logs/v1). */
export const EXPORT_PATH = '/opentelemetry.proto.collector.logs.v1.LogsService/Export'

/** The message codings accepted; brotli is left out, as gRPC does not know it. */
const GRPC_CODINGS = 'identity,gzip,deflate,zstd'

/** An ExportLogsServiceRequest as the only message of a call. */
export const GRPC_FORMAT: BodyFormat<Buffer, GrpcCall> = {
  ...PROTOBUF_FORMAT,
  refusal: ({ headers }) => (contentCoding(headers, ENCODING) === undefined ? unknownCoding(headers) : undefined),
  unwrap: unwrapMessage,
}

export const sendToCaller: SendReply<GrpcCall> = (call, { body, trailers = {} }) =>
  answerCall(call, body, trailers, { 'grpc-accept-encoding': GRPC_CODINGS })

const ENCODING = 'grpc-encoding'

const unknownCoding = (headers: IncomingHttpHeaders): Problem =>
  problemSaying(
    'unsupported_media_type',
    `The ${ENCODING} ${quotedHeader(headers, ENCODING)} is not taken. Send one of ${GRPC_CODINGS}.`,
  )

/** Reads the message's prefix: one byte says whether the message is compressed, the next four how long it is. */
function unwrapMessage(bytes: BodyBytes, headers: IncomingHttpHeaders): Checked<ContentCoding> {
  const prefix = bytes.shift(PREFIX_BYTES)
  if (prefix.length < PREFIX_BYTES) return malformed('it has no message')
  const length = prefix.readUInt32BE(1)
  if (bytes.size < length) return malformed(`it ends after ${bytes.size} of the ${length} bytes of its message`)
  if (bytes.size > length) return malformed('it has more than one message')
  const coding = contentCoding(headers, ENCODING) ?? 'identity'
  const [flag] = prefix
  if (flag === 0) return { value: 'identity' }
  if (flag === 1 && coding !== 'identity') return { value: coding }
  return malformed('its message is said to be compressed, and no grpc-encoding says how')
}

const malformed = (reason: string): { readonly problem: Problem } => ({
  problem: problemSaying('malformed_body', `The call is not one of gRPC with one message: ${reason}.`),
})
