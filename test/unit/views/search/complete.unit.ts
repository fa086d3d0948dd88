import { describe, expect, test } from 'vitest'
import { parseQuery } from '../../../../shared/query/parse.ts'
import type { Completion } from '../../../../views/schemas/answers.ts'
import { type Choice, complete, type KnownValues } from '../../../../views/search/complete.ts'
import { searchTexts } from '../../../support/documents-arbitrary.ts'
import * as fc from '../../../support/fast-check.ts'

const VALUES: KnownValues = {
  level: [{ value: 'Error', count: 3 }],
  environment: [
    { value: 'Production', count: 40 },
    { value: 'Test Lab', count: 2 },
  ],
  event: [{ value: 'order-placed', name: 'Order placed', count: 12 }],
  category: [{ value: 'Acme.Billing' }, { value: 'Acme.Shop' }],
}

const known = (values: KnownValues, paths: readonly string[] = []) => ({
  values: async () => values,
  paths: async () => paths,
  leafValues: async ({ field, path }: { readonly field: string; readonly path: string }) => [
    { value: `${field} ${path}`, count: 2 },
    { value: '1..2', count: 1 },
  ],
  eventNames: async () => [{ value: 'PaymentFailed', count: 5 }],
})

/** The text with a choice written into it, and where the caret is then. */
const applied = (text: string, { from, to }: Completion, { insert }: Choice) => ({
  text: text.slice(0, from) + insert + text.slice(to),
  caret: from + insert.length,
})

/** The choices at the `|` of a text. */
async function at(marked: string, paths: readonly string[] = []): Promise<readonly string[]> {
  const caret = marked.indexOf('|')
  const { choices } = await complete(marked.replace('|', ''), caret, known(VALUES, paths))
  return choices.map(({ label }) => label)
}

/** The text after the first choice was taken, with a `|` where the caret is. */
async function taken(marked: string): Promise<string> {
  const caret = marked.indexOf('|')
  const text = marked.replace('|', '')
  const completion = await complete(text, caret, known(VALUES))
  const [choice] = completion.choices
  if (choice === undefined) return marked
  const after = applied(text, completion, choice)
  return `${after.text.slice(0, after.caret)}|${after.text.slice(after.caret)}`
}

describe('what can come at the caret of a search', () => {
  test.each<[string, readonly string[]]>([
    ['|', []],
    ['foo |', []],
    ['lev|', ['level']],
    ['-LEV|', ['level']],
    ['(lev|', ['level']],
    ['timeout ev|', ['event', 'eventId', 'eventName']],
    ['sev|', ['severity']],
    ['level:|', ['Critical', 'Error', 'Warning', 'Information', 'Debug', 'Trace']],
    ['level:>=w|', ['Warning']],
    ['env:|', ['Production', 'Test Lab']],
    ['environment:"Test|', ['Test Lab']],
    ['environment:"Test|" foo', ['Test Lab']],
    ['event:placed|', ['order-placed']],
    ['event:Order p|', ['project', 'payload', 'payload.']],
    ['eventName:|', ['PaymentFailed']],
    ['eventname:fail|', ['PaymentFailed']],
    ['scope.Tenant:|', ['scope Tenant', '1..2']],
    ['payload.a.b:pay|', ['payload a.b']],
    ['scope.ms:>1|', ['1..2']],
    ['trace:|', []],
    ['id:|', []],
    ['category:shop|', ['Acme.Shop']],
    ['"lev|', []],
    ['level:[e|', []],
    ['nosuch:|', []],
    ['a)) lev|', ['level']],
  ])('%s', async (marked, expected) => {
    expect([...(await at(marked))].sort()).toEqual([...expected].sort())
  })

  test('paths of leaves that the entries have', async () => {
    const paths = ['scope.RequestId', 'scope.tenant', 'scope.order.project']
    expect(await at('scope.Re|', paths)).toEqual(['scope.RequestId'])
    expect(await at('Ten|', paths)).toEqual(['scope.tenant'])
    // Names with this beginning come first.
    expect(await at('proj|', paths)).toEqual(['project', 'scope.order.project'])
    expect(await at('enant|', paths)).toEqual([])
  })

  test.each([
    ['lev|', 'level:|'],
    ['lev|el:error', 'level:|error'],
    ['environment:Te|', 'environment:"Test Lab" |'],
    ['environment:"Te|st" foo', 'environment:"Test Lab"| foo'],
    ['scope.v:1|', 'scope.v:"1..2" |'],
    ['level:|debug foo', 'level:Critical| foo'],
    ['a OR env:prod|uction)', 'a OR env:Production |)'],
  ])('taking the first choice makes of %s %s', async (before, after) => {
    expect(await taken(before)).toBe(after)
  })

  test('counts and names stand beside the values', async () => {
    const [level] = (await complete('level:err', 9, known(VALUES))).choices
    const [event] = (await complete('event:', 6, known(VALUES))).choices
    expect(level).toMatchObject({ label: 'Error', count: 3 })
    expect(event).toMatchObject({ label: 'order-placed', help: 'Order placed', count: 12 })
  })

  test('a value that was taken is read as that value', async () => {
    const environments = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\0'))
    await fc.assert(
      fc.asyncProperty(environments, fc.constantFrom('environment:', '-env:', 'foo env:"'), async (value, head) => {
        const completion = await complete(head, head.length, known({ environment: [{ value }] }))
        const choice = completion.choices[0] as Choice
        const { text } = applied(head, completion, choice)
        expect(parseQuery(text).reading).toEqual({ read: 'query' })
        expect(JSON.stringify(parseQuery(text).query)).toContain(JSON.stringify(value))
      }),
    )
  })

  test('any text, any caret: what is replaced lies in the text and holds the caret', async () => {
    await fc.assert(
      fc.asyncProperty(searchTexts, fc.nat(60), async (text, place) => {
        const caret = Math.min(place, text.length)
        const completion = await complete(text, caret, known(VALUES))
        expect(completion.from).toBeLessThanOrEqual(caret)
        expect(completion.to).toBeGreaterThanOrEqual(caret)
        expect(completion.to).toBeLessThanOrEqual(text.length)
      }),
    )
  })
})
