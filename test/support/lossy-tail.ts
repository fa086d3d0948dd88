import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { startBare } from './raw-http.ts'

/** A proxy between a page and its server that removes entries from tails, as the server does for a slow reader. */
export interface LossyTail {
  readonly url: string
  /** From now on, entries of tails are counted instead of forwarded. */
  lose(): void
  /** Reports how many were dropped, and forwards entries again. Resolves with the number once it was sent. */
  tell(): Promise<number>
  /** Breaks every open tail, as a restarting proxy does. */
  cut(): void
  /** Refuses new tails, like a server at its limit, or accepts them again. */
  refuse(refusing: boolean): void
  /** The number of refused tails. */
  refused(): number
  close(): Promise<void>
}

export async function startLossyTail(target: string): Promise<LossyTail> {
  const tails = new Set<ServerResponse>()
  let losing = false
  let refusing = false
  let refused = 0
  let lost = 0
  let lastId = ''

  function pass(answer: IncomingMessage, response: ServerResponse): void {
    tails.add(response)
    response.once('close', () => tails.delete(response))
    let rest = ''
    answer.setEncoding('utf8').on('data', (chunk: string) => {
      const blocks = (rest + chunk).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const isEntry = block.includes('event: entry')
        if (isEntry && losing) {
          lost += 1
          lastId = /id: (\S+)/.exec(block)?.[1] ?? ''
        } else response.write(`${block}\n\n`)
      }
    })
    answer.once('close', () => response.destroy())
  }

  const { url, close } = await startBare((incoming, response) => {
    const { method = 'GET', headers, url = '/' } = incoming
    if (refusing && url.includes('/tail')) {
      refused += 1
      response.writeHead(503).end()
      return
    }
    const outgoing = request(target + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      response.once('close', () => outgoing.destroy())
      if (url.includes('/tail') && answer.statusCode === 200) {
        response.flushHeaders()
        pass(answer, response)
      } else answer.pipe(response)
    })
    outgoing.once('error', () => response.destroy())
    incoming.pipe(outgoing)
  })
  return {
    url,
    lose: () => {
      losing = true
    },
    tell: async () => {
      const count = lost
      for (const tail of tails) tail.write(`id: ${lastId}\nevent: skipped\ndata: {"count":${count}}\n\n`)
      lost = 0
      losing = false
      return count
    },
    cut: () => {
      for (const tail of tails) tail.destroy()
    },
    refused: () => refused,
    refuse: (next) => {
      refusing = next
    },
    close,
  }
}
