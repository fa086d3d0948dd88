import { FIELDS, type Field, LEAF_FAMILIES, type LeafFamily } from '../../shared/query/fields.ts'

/** The forms beside the fields; docs/query.md describes them. */
const FORMS = [
  ['timeout', 'The word in the message, the exception or the payload, in any case.'],
  ['"connection refused"', 'The words one after the other.'],
  ['time*', 'Words that begin so.'],
  ['a OR b', 'Either; a b and a AND b find both.'],
  ['-timeout', 'Without it; also NOT timeout.'],
  ['(a OR b) -c', 'Groups.'],
  ['exception:*', 'Any value.'],
  ['eventId:[1 TO 5]', 'From 1 to 5; * leaves an end open.'],
].map(([example, help]) => ({ example, help }))

const rowOf = ({ aliases, help, example }: Field | LeafFamily) => {
  const others = aliases.map((alias) => `${alias}:`).join(' ')
  return { example, help: others === '' ? help : `${help} Also ${others}` }
}

/** All that a search can say, by examples. */
export const SYNTAX = [...FORMS, ...[...FIELDS, ...LEAF_FAMILIES].map(rowOf)]
