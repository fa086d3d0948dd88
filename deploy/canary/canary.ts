import { systemClock } from '../../shared/runtime/clock.ts'
import { type Config, rereadSecret } from '../../shared/runtime/config.ts'
import { type Service, startAll, stopAll } from '../../shared/runtime/lifecycle.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import { createMetrics, type Metrics } from '../../shared/runtime/metrics.ts'
import { createRepeater } from '../../shared/runtime/repeat.ts'
import { createOperationsServer } from '../http/app.ts'
import { createEventLoopDelay } from '../http/event-loop-delay.ts'
import { exitAtOnce, onSignals } from '../server/signals.ts'
import { VERSION } from '../server/version.ts'
import { type CanaryTarget, canaryTarget, OUTCOMES, runRound } from './round.ts'

interface CanaryOptions {
  readonly config: Config
  readonly logger: Logger
  readonly print: (text: string) => void
}

/** The canary's metrics. A server's gauges would suggest an unread registry and days that are not removed. */
const SHOWN = /^sluice_(canary|build_info|http|event_loop|connections)/

/**
 * Runs the canary until SIGTERM or SIGINT, with its metrics on METRICS_PORT or else on PORT. A round that fails is counted and logged: the
 * process itself stays ready. Resolves to the exit code; rejects if it cannot start.
 */
export async function runCanary({ config, logger, print }: CanaryOptions): Promise<number> {
  const target = canaryTarget(config)
  const newestKey = rereadSecret(config, 'CANARY_API_KEY', logger)
  const newestTarget = (): CanaryTarget => ({ ...target, apiKey: newestKey() ?? target.apiKey })
  const metrics = createMetrics({ processMetrics: true, shown: (name) => SHOWN.test(name) })
  metrics.gauge('sluice_build_info').set({ version: VERSION, role: 'canary' }, 1)
  let stopping = false
  const http = createOperationsServer(
    {
      config,
      logger,
      metrics,
      moreMetrics: async () => [],
      health: async () => [],
      draining: () => stopping,
    },
    config.METRICS_PORT ?? config.PORT,
  )
  const rounds = createRounds(newestTarget, config.CANARY_INTERVAL_MS, logger, metrics)
  const services = [createEventLoopDelay(metrics), http, rounds]
  await startAll(services)
  print(`Sluice canary is ready at ${http.url()}`)
  await new Promise<void>((resolve) => onSignals(resolve))
  onSignals(exitAtOnce)
  stopping = true
  await stopAll(services, systemClock.now() + config.DRAIN_TIMEOUT_MS)
  return 0
}

/** Runs one round after another. A round that the stop cuts short is not counted. */
function createRounds(target: () => CanaryTarget, intervalMs: number, logger: Logger, metrics: Metrics): Service {
  const rounds = metrics.counter('sluice_canary_rounds_total', { outcome: Object.keys(OUTCOMES) })
  const seconds = metrics.histogram('sluice_canary_seconds')
  return createRepeater({
    name: 'canary',
    intervalMs,
    run: async (signal) => {
      const round = await runRound(target(), (hop) => seconds.observe({ hop: hop.name }, hop.seconds), signal)
      const { outcome, reason } = round
      rounds.inc({ outcome })
      if (outcome === 'found') logger.debug({ seconds: round.seconds }, 'the canary was found')
      else logger.error({ outcome, reason, check: OUTCOMES[outcome] }, 'the canary was not found')
    },
    onError: (err) => logger.error({ err }, 'a round of the canary failed'),
  })
}
