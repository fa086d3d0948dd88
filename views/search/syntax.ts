import { FIELDS, type Field, LEAF_FAMILIES, type LeafFamily } from '../../shared/query/fields.ts'

/** The forms other than fields; docs/query.md describes them. */
const FORMS = [
  ['timeout', 'The word in anything that a row or its panel shows, in any case.'],
  ['"connection refused"', 'The words one after the other.'],
  ['time*', 'Words that begin so.'],
  ['a OR b', 'Either; a b and a AND b find both.'],
  ['-timeout', 'Without it; also NOT timeout.'],
  ['(a OR b) -c', 'Groups.'],
  ['exception:*', 'Any value.'],
  ['eventId:[1 TO 5]', 'From 1 to 5; * leaves an end open.'],
  ['payload.total:100..200', 'From 100 to 200; also with eventId, level and times.'],
  ['scope.ms:>990', 'More than; also >=, < and <=, for numbers, times (2026-01-31) and durations (200ms).'],
].map(([example, help]) => ({ example, help }))

const rowOf = ({ aliases, help, example }: Field | LeafFamily) => {
  const others = aliases.map((alias) => `${alias}:`).join(' ')
  return { example, help: others === '' ? help : `${help} Also ${others}` }
}

/** All forms of a search, by example. */
export const SYNTAX = [...FORMS, ...[...FIELDS, ...LEAF_FAMILIES].map(rowOf)]
