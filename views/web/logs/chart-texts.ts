import type { SeriesFunction } from '../../../shared/log-store/statistics.ts'

export const FUNCTIONS = [
  ['count', 'Number'],
  ['avg', 'Average'],
  ['max', 'Largest'],
  ['p50', 'p50'],
  ['p95', 'p95'],
  ['p99', 'p99'],
] as const satisfies readonly (readonly [SeriesFunction, string])[]

export const CHART = {
  name: 'Chart',
  fn: 'Function',
  of: 'of',
  by: 'by',
  logs: 'all logs',
  everything: 'nothing',
  numbers: 'Numbers in these logs',
  choose: (fn: string): string => `Choose the numbers that ${fn} is of.`,
  none: (value: string, by: string | undefined): string => {
    if (by === undefined) return `No number at ${value} in this time`
    return value === ''
      ? `No log in this time has ${by}`
      : `No log in this time has both a number at ${value} and ${by}`
  },
  others: 'These names have numbers:',
  noOthers: 'No value of the newest logs in this time is a number.',
  without: (by: string): string => `Without “by ${by}”`,
  title: (fn: string, value: string | null, by: string | null): string =>
    `${fn} of ${value ?? 'logs'}${by === null ? '' : ` by ${by}`}`,
  points: (title: string): string => `${title}; Enter shows the logs of a point`,
  point: (interval: string): string => `a point is ${interval}, a click shows its logs`,
  compare: (time: string): string => `Compare with ${time} earlier`,
  earlier: (time: string): string => `${time} earlier`,
  only: 'Only these logs',
  onlyOf: (label: string): string => `Only ${label}`,
  nothing: '–',
  further: (by: string): string => `${by} has further values; these are those with most logs.`,
  moreSeries: (most: number): string => `Draw up to ${most}`,
  loading: 'Looking…',
} as const
