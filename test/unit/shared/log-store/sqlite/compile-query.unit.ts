import { expect, test } from 'vitest'
import { narrowingOf } from '../../../../../shared/log-store/sqlite/compile-query.ts'
import { parseQuery } from '../../../../../shared/query/parse.ts'

const WORD = '({message exception payload leaves} : "word")'

test.each([
  ['word', WORD, []],
  ['word level:error', `(${WORD})`, []],
  ['word OR id:a', `(${WORD})`, ['a']],
  ['word OR id:a OR correlation:b', `(${WORD})`, ['a', 'b']],
  ['id:a OR correlation:b', null, ['a', 'b']],
  ['(id:a OR correlation:b) level:error', null, ['a', 'b']],
  ['word (id:a OR correlation:b)', `(${WORD})`, []],
])('the entries that may match are narrowed by posting lists, ids and keys: %s', (text, match, pins) => {
  const found = narrowingOf(parseQuery(text).query, true)
  expect({ match: found?.match, pins: found?.pins.map(({ value }) => value) }).toEqual({ match, pins })
})

test.each(['level:error', '-word', 'word OR level:error', 'id:a OR -word', 'id:a* OR id:b'])(
  'they are not where any entry may match: %s',
  (text) => expect(narrowingOf(parseQuery(text).query, true)).toBeNull(),
)
