import type { IncomingMessage, ServerResponse } from 'node:http'
import { startBare } from './raw-http.ts'

/** The fault applied to a request; undefined lets it pass. */
export type Fault =
  /** The request is not forwarded; this is the response. */
  | { readonly fault: 'answer'; readonly status: number; readonly body: string }
  /** The request is not forwarded, and the connection breaks. */
  | { readonly fault: 'cut' }
  /** The request is executed, but the connection breaks before the response. */
  | { readonly fault: 'lose-answer' }
  /** The request is executed only after the promise settles, even if nobody waits for it any more. */
  | { readonly fault: 'hold'; readonly until: Promise<unknown> }
  /** The request is executed, but the response is replaced. */
  | { readonly fault: 'garble'; readonly body: string }
  /** The chosen items of a bulk request are not forwarded and are answered with 429; the others are executed. */
  | { readonly fault: 'reject-items'; readonly chosen: () => boolean }

export interface FaultProxy {
  readonly url: string
  /** Decides for every request from now on. */
  inject(decide: (request: { readonly method: string; readonly path: string }) => Fault | undefined): void
  close(): Promise<void>
}

/** An HTTP proxy in front of Elasticsearch that injects faults. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let decide: Parameters<FaultProxy['inject']>[0] = () => undefined

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request)
    const { method = 'GET', url: path = '/' } = request
    const found = decide({ method, path })
    const forward = (sent: Buffer): Promise<Response> =>
      fetch(target + path, {
        method,
        headers: headersOf(request),
        ...(sent.length > 0 && { body: new Uint8Array(sent) }),
      })
    switch (found?.fault) {
      case undefined:
        return pass(response, await forward(body))
      case 'answer':
        return answer(response, found.status, found.body)
      case 'cut':
        response.destroy()
        return
      case 'lose-answer':
        await (await forward(body)).arrayBuffer()
        response.destroy()
        return
      case 'hold':
        await found.until
        return pass(response, await forward(body))
      case 'garble':
        await (await forward(body)).arrayBuffer()
        return answer(response, 200, found.body)
      case 'reject-items':
        return rejectItems(body.toString(), found.chosen, forward, response)
    }
  }

  const { url, close } = await startBare((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  return {
    url,
    inject: (next) => {
      decide = next
    },
    close,
  }
}

const REJECTED = {
  status: 429,
  error: { type: 'es_rejected_execution_exception', reason: 'rejected execution of coordinating operation' },
}

/** Assumes two lines per item, as for `create`. */
async function rejectItems(
  body: string,
  chosen: () => boolean,
  forward: (sent: Buffer) => Promise<Response>,
  response: ServerResponse,
): Promise<void> {
  const lines = body.split('\n').slice(0, -1)
  const items = Array.from({ length: lines.length / 2 }, (_, index) => ({
    text: `${lines[index * 2]}\n${lines[index * 2 + 1]}\n`,
    rejected: chosen(),
  }))
  const sent = items.filter(({ rejected }) => !rejected).map(({ text }) => text)
  const answered = sent.length === 0 ? [] : await itemsOf(await forward(Buffer.from(sent.join(''))))
  let next = 0
  const outcomes = items.map(({ rejected }) => (rejected ? { create: REJECTED } : answered[next++]))
  answer(response, 200, JSON.stringify({ items: outcomes }))
}

const itemsOf = async (answered: Response): Promise<readonly unknown[]> =>
  ((await answered.json()) as { items: readonly unknown[] }).items

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' })
  response.end(body)
}

async function pass(response: ServerResponse, answered: Response): Promise<void> {
  const body = Buffer.from(await answered.arrayBuffer())
  const type = answered.headers.get('content-type') ?? 'application/json'
  response.writeHead(answered.status, { 'content-type': type, 'x-elastic-product': 'Elasticsearch' })
  response.end(body)
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string] =>
        typeof entry[1] === 'string' && /^(accept|content-type|content-encoding|authorization)$/.test(entry[0]),
    ),
  )

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
