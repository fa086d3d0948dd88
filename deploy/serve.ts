import { systemClock } from '../shared/runtime/clock.ts'
import { type Server, type ServerOptions, startServer } from './server.ts'
import { exitAtOnce, onSignals } from './signals.ts'

/** Runs a server until SIGTERM or SIGINT (again: at once), or until a view halts. Gives the exit code: 0 drained, 1 failed. */
export async function serve(options: ServerOptions): Promise<number> {
  const { config, logger } = options
  const server = await startServer(options)
  const signal = Promise.withResolvers<'signal'>()
  onSignals(() => signal.resolve('signal'))
  const reason = await Promise.race([signal.promise, haltOf(server, options)])
  onSignals(exitAtOnce)
  logger.info({ reason }, 'the server is stopping')
  try {
    await server.stop(systemClock.now() + config.DRAIN_TIMEOUT_MS)
  } catch (err) {
    logger.error({ err }, 'the server did not stop cleanly')
    return 1
  }
  return reason === 'signal' ? 0 : 1
}

/**
 * Resolves when a halted view has to end the process. One that also takes logs stays up: what it accepts is durable and becomes
 * visible once the cause is mended; readiness, a metric and the log tell.
 */
async function haltOf({ halted }: Server, { role, logger }: ServerOptions): Promise<'halted'> {
  try {
    await halted
  } catch (err) {
    logger.fatal({ err }, 'a view halted and needs an operator')
    if (role === 'consumers') return 'halted'
  }
  return new Promise(() => {})
}
