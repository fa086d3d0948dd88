/** Asks the server on this machine, found by the same settings, whether it is ready. Exit code 0: it is. */
import { below } from '../shared/http/base-path.ts'
import { loadConfig } from '../shared/runtime/config.ts'

const TIMEOUT_MS = 4_000
const EVERY_INTERFACE: readonly string[] = ['0.0.0.0', '::']

const { HOST, PORT, BASE_PATH } = loadConfig()
const host = EVERY_INTERFACE.includes(HOST) ? '127.0.0.1' : HOST.includes(':') ? `[${HOST}]` : HOST
const url = `http://${host}:${PORT}${below(BASE_PATH, '/health/ready')}`
try {
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  process.stdout.write(`${answer.status} ${await answer.text()}\n`)
  process.exitCode = answer.ok ? 0 : 1
} catch (error) {
  process.stdout.write(`${url} does not answer: ${(error as Error).message}\n`)
  process.exitCode = 1
}
