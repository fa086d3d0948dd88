import { createServer } from 'node:net'

/** Below the ephemeral port range, so that no outgoing connection takes one between this call and the bind. */
const LOWEST = 20_000
const HIGHEST = 29_999

/** Currently unused ports of 127.0.0.1. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>()
  while (found.size < count) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST + 1))
    if (await isFree(port)) found.add(port)
  }
  return [...found]
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
