import type { Level } from './entries.ts'

/** The levels of pino, of npm and of syslog, and Sluice's own, by their names in lower case. */
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

/** The numbers of pino: 10 is trace, 60 fatal, and an application may have others in between. */
const NUMBERS: readonly (readonly [below: number, level: Level])[] = [
  [20, 'Trace'],
  [30, 'Debug'],
  [40, 'Information'],
  [50, 'Warning'],
  [60, 'Error'],
]

/** The level that another logger's name or number means; Information where it means none. */
export function levelOf(value: unknown): Level {
  if (typeof value === 'number') return NUMBERS.find(([below]) => value < below)?.[1] ?? 'Critical'
  return (typeof value === 'string' ? LEVELS.get(value.toLowerCase()) : undefined) ?? 'Information'
}
