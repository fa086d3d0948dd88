import { problemSaying } from '../../shared/contract/errors.ts'
import type { Unknown } from '../../shared/http/listener.ts'
import { nearestOf } from '../../shared/nearest.ts'

/** Longer paths are compared with none, whatever an attacker sends. */
const LENGTH_MAX = 200
/** Shorter ends are those of too many paths. */
const END_MIN = 4

const OTHER_SIGNALS = /\/v1\/(traces|metrics)$/i
const LOGS_ONLY =
  'Sluice takes logs, and no traces or metrics: set OTEL_TRACES_EXPORTER=none and OTEL_METRICS_EXPORTER=none, or export these elsewhere.'

/** Refuses a path that no route has, with the one of `paths` that may be meant. `list` is a clause that tells where all paths are. */
export function refuseUnknownPaths(paths: readonly string[], list: string): Unknown {
  const shortestFirst = paths.toSorted((a, b) => a.length - b.length)
  return (target) => {
    const [asked = ''] = target.split('?', 1)
    const path = asked.length > LENGTH_MAX ? '' : asked.replace(/\/+$/, '')
    const meant = meantBy(path, shortestFirst)
    const perhaps = meant === undefined ? '' : ` (perhaps ${meant} is meant)`
    const told = OTHER_SIGNALS.test(path) ? LOGS_ONLY : `There is nothing here. Check the path${perhaps}; ${list}`
    return problemSaying('not_found', told)
  }
}

/** A path that was given twice or goes on, one whose beginning was left out, or one that was mistyped. */
function meantBy(path: string, shortestFirst: readonly string[]): string | undefined {
  const lower = path.toLowerCase()
  const isWithin = (known: string): boolean => lower.endsWith(known) || lower.startsWith(`${known}/`)
  return (
    shortestFirst.findLast((known) => isWithin(known.toLowerCase())) ??
    (path.length < END_MIN ? undefined : shortestFirst.find((known) => known.toLowerCase().endsWith(lower))) ??
    nearestOf(path, shortestFirst, String)
  )
}
