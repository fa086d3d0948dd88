import { describe, expect, test } from 'vitest'
import type { Refusal } from '../../../../../views/schemas/answers.ts'
import { factsOf, groupsOf } from '../../../../../views/web/refused/texts.ts'

const told = {
  details: null,
  endpoint: '/api/ExternalLogs',
  index: null,
  identifier: null,
  keyPrefix: null,
  userAgent: null,
}
const sent = factsOf(told)

describe('the facts of a refusal', () => {
  test('say what was sent by whom', () => {
    expect(sent).toEqual([
      { name: 'Sent to', text: '/api/ExternalLogs' },
      { name: 'Key', text: 'none' },
      { name: 'Client', text: 'not named' },
    ])
    expect(factsOf({ ...told, index: 3, identifier: 'order', keyPrefix: 'sl_abc', userAgent: 'acme/1' })).toEqual([
      { name: 'Sent to', text: '/api/ExternalLogs, entry 3' },
      { name: 'Identifier', text: 'order' },
      { name: 'Key', text: 'sl_abc…' },
      { name: 'Client', text: 'acme/1' },
    ])
  })

  test.each<[unknown, object[]]>([
    [null, []],
    [[{ path: '/level', message: 'must be a string' }], [{ name: '/level', text: 'must be a string' }]],
    [[{ path: '', message: 'must be an object' }], [{ name: 'Details', text: 'must be an object' }]],
    [{ limit: 100 }, [{ name: 'Details', text: '{"limit":100}' }]],
    [['x', null], [{ name: 'Details', text: '["x",null]' }]],
    ['text', [{ name: 'Details', text: '"text"' }]],
  ])('begin with what the details say: %j', (details, places) => {
    expect(factsOf({ ...told, details })).toEqual([...places, ...sent])
  })
})

test('refusals are grouped by reason and client, and those that were not kept are counted', () => {
  const refusal = (id: string, code: string, userAgent: string | null, unnoted = 0) =>
    ({ ...told, id, code, userAgent, unnoted }) as Refusal
  const items = [
    refusal('5', 'a', 'one'),
    refusal('4', 'b', 'one'),
    refusal('3', 'a', 'two'),
    refusal('2', 'a', 'one', 40),
    refusal('1', 'a', null),
  ]
  const groups = groupsOf(items).map((group) => [group.count, group.items.map(({ id }) => id)])
  expect(groups).toEqual([
    [42, ['5', '2']],
    [1, ['4']],
    [1, ['3']],
    [1, ['1']],
  ])
})
