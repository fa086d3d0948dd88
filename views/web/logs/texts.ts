import type { Absence } from '../../schemas/answers.ts'
import { agoText } from '../lib/times.ts'

/** The heading of an empty list and the reason; `now` is in milliseconds since 1970. */
export function emptyTexts({ newestAt, conditions }: Absence, now: number): readonly [title: string, reason: string] {
  if (newestAt === null)
    return ['Nothing matches', `No log of any time matches ${conditions.length > 1 ? 'all of these' : 'this'}.`]
  const newest = conditions.length === 0 ? 'The newest log' : 'The newest log that matches'
  const isAhead = Date.parse(newestAt) > now
  return ['Nothing in this time', `${newest} is ${isAhead ? 'ahead of this clock' : `from ${agoText(newestAt, now)}`}.`]
}

/** The button for a way out of an empty list. */
export function wayText({ kind, value, params }: Absence['ways'][number]): string {
  if (kind === 'newest') return 'Go to the newest log'
  if (kind === 'since') return 'Everything since then'
  const [name] = Object.keys(params)
  return value === null ? 'Remove all' : `Remove ${name === 'q' ? 'the search' : name}`
}

/** The words of the bar of levels. */
export const LEVEL_BAR = {
  name: 'Levels',
  all: 'Show all levels',
  only: (level: string): string => `Only ${level}`,
  above: 'and above',
} as const
