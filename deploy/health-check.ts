/** Asks the process on this machine, found by the same settings, whether it is ready. Exit code 0: it is. */
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { below } from '../shared/http/base-path.ts'
import { type Config, ConfigError, loadConfig } from '../shared/runtime/config.ts'

const TIMEOUT_MS = 4_000
const EVERY_INTERFACE: readonly string[] = ['0.0.0.0', '::']

/** The address of the readiness check: on the metrics port, without the base path, if there is one; the canary has no other port. */
function readinessUrl({ HOST, PORT, METRICS_PORT, BASE_PATH }: Config): string {
  const host = EVERY_INTERFACE.includes(HOST) ? '127.0.0.1' : HOST.includes(':') ? `[${HOST}]` : HOST
  const place = METRICS_PORT ? `${METRICS_PORT}/health/ready` : `${PORT}${below(BASE_PATH, '/health/ready')}`
  return `http://${host}:${place}`
}

let url = ''
try {
  url = readinessUrl(loadConfig())
  // With an agent of its own, as a proxy of the environment (NODE_USE_ENV_PROXY) does not lead to this machine.
  const request = get(url, { agent: new Agent(), signal: AbortSignal.timeout(TIMEOUT_MS) })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  process.stdout.write(`${answer.statusCode} ${await text(answer)}\n`)
  process.exitCode = answer.statusCode === 200 ? 0 : 1
} catch (error) {
  const { message } = error as Error
  process.stdout.write(`${error instanceof ConfigError ? message : `${url} does not answer: ${message}`}\n`)
  process.exitCode = 1
}
