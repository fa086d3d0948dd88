import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parseQuery } from '../../../../../shared/query/parse.ts'
import { applyChoice, type Choice, complete, type KnownValues } from '../../../../../views/web/logs/complete.ts'
import { searchTexts } from '../../../../support/documents-arbitrary.ts'

const VALUES: KnownValues = {
  level: [{ value: 'Error', count: 3 }],
  environment: [
    { value: 'Production', count: 40 },
    { value: 'Test Lab', count: 2 },
  ],
  event: [{ value: 'order-placed', name: 'Order placed', count: 12 }],
  category: [{ value: 'Acme.Billing' }, { value: 'Acme.Shop' }],
}

/** The choices at the `|` of a text. */
function at(marked: string, paths: readonly string[] = []): readonly string[] {
  const caret = marked.indexOf('|')
  return complete(marked.replace('|', ''), caret, VALUES, () => paths)?.choices.map(({ label }) => label) ?? []
}

/** The text after the first choice was taken, with a `|` where the caret is. */
function taken(marked: string): string {
  const caret = marked.indexOf('|')
  const text = marked.replace('|', '')
  const completion = complete(text, caret, VALUES)
  const [choice] = completion?.choices ?? []
  if (completion === undefined || choice === undefined) return marked
  const after = applyChoice(text, completion, choice)
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
    ['category:shop|', ['Acme.Shop']],
    ['"lev|', []],
    ['level:[e|', []],
    ['nosuch:|', []],
    ['a)) lev|', ['level']],
  ])('%s', (marked, expected) => {
    expect([...at(marked)].sort()).toEqual([...expected].sort())
  })

  test('paths of leaves that the entries have', () => {
    expect(at('scope.Re|', ['scope.RequestId', 'scope.tenant'])).toEqual(['scope.RequestId'])
  })

  test.each([
    ['lev|', 'level:|'],
    ['lev|el:error', 'level:|error'],
    ['environment:Te|', 'environment:"Test Lab" |'],
    ['environment:"Te|st" foo', 'environment:"Test Lab"| foo'],
    ['level:|debug foo', 'level:Critical| foo'],
    ['a OR env:prod|uction)', 'a OR env:Production |)'],
  ])('taking the first choice makes of %s %s', (before, after) => {
    expect(taken(before)).toBe(after)
  })

  test('counts and names stand beside the values', () => {
    const [level] = complete('level:err', 9, VALUES)?.choices ?? []
    const [event] = complete('event:', 6, VALUES)?.choices ?? []
    expect(level).toMatchObject({ label: 'Error', count: 3 })
    expect(event).toMatchObject({ label: 'order-placed', help: 'Order placed', count: 12 })
  })

  test('a value that was taken is read as that value', () => {
    const environments = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\0'))
    fc.assert(
      fc.property(environments, fc.constantFrom('environment:', '-env:', 'foo env:"'), (value, head) => {
        const completion = complete(head, head.length, { environment: [{ value }] })
        const choice = completion?.choices[0] as Choice
        const { text } = applyChoice(head, completion as NonNullable<typeof completion>, choice)
        expect(parseQuery(text).reading).toEqual({ read: 'query' })
        expect(JSON.stringify(parseQuery(text).query)).toContain(JSON.stringify(value))
      }),
    )
  })

  test('any text, any caret: what is replaced lies in the text and holds the caret', () => {
    fc.assert(
      fc.property(searchTexts, fc.nat(60), (text, place) => {
        const caret = Math.min(place, text.length)
        const completion = complete(text, caret, VALUES)
        if (completion === undefined) return
        expect(completion.from).toBeLessThanOrEqual(caret)
        expect(completion.to).toBeGreaterThanOrEqual(caret)
        expect(completion.to).toBeLessThanOrEqual(text.length)
      }),
    )
  })
})
