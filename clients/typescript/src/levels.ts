import type { Level } from './entries.ts'

/** The levels of pino, npm, syslog and Sluice, by lower-case name. */
const LEVELS: ReadonlyMap<string, Level> = new Map<string, Level>([
  ['silly', 'Trace'],
  ['trace', 'Trace'],
  ['debug', 'Debug'],
  ['verbose', 'Debug'],
  ['http', 'Debug'],
  ['info', 'Information'],
  ['information', 'Information'],
  ['notice', 'Information'],
  ['warn', 'Warning'],
  ['warning', 'Warning'],
  ['error', 'Error'],
  ['fatal', 'Critical'],
  ['crit', 'Critical'],
  ['critical', 'Critical'],
  ['alert', 'Critical'],
  ['emerg', 'Critical'],
])

/** pino's numbers: 10 is trace, 60 is fatal, and applications may define others in between. */
const NUMBERS: readonly (readonly [below: number, level: Level])[] = [
  [20, 'Trace'],
  [30, 'Debug'],
  [40, 'Information'],
  [50, 'Warning'],
  [60, 'Error'],
]

/** The level for another logger's name or number; undefined if unknown. */
export function levelOf(value: unknown): Level | undefined {
  if (typeof value === 'number') return NUMBERS.find(([below]) => value < below)?.[1] ?? 'Critical'
  return typeof value === 'string' ? LEVELS.get(value.toLowerCase()) : undefined
}
