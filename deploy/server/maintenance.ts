import type { Service } from '../../shared/runtime/lifecycle.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import { createRepeater } from '../../shared/runtime/repeat.ts'

const INTERVAL_MS = 60_000

/**
 * Looks after what the embedded files keep, at start and every minute: retention and compaction, which servers of their own do for
 * themselves. A failure is logged and tried again; files that grow for a while longer are no reason to stop.
 */
export function createMaintenance(tasks: readonly (() => Promise<unknown>)[], logger: Logger): Service {
  const repeater = createRepeater({
    intervalMs: INTERVAL_MS,
    run: async () => {
      for (const task of tasks) await task()
    },
    onError: (err) => logger.error({ err }, 'maintenance of the embedded files failed; trying again later'),
  })
  return {
    name: 'maintenance',
    start: async () => repeater.start(),
    stop: () => repeater.stop(),
  }
}
