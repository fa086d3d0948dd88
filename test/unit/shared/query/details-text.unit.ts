import { describe, expect, test } from 'vitest'
import { detailsText } from '../../../../shared/query/details-text.ts'
import { splitWords } from '../../../../shared/query/words.ts'
import { applicationDocument, eventDocument } from '../../../support/documents.ts'
import * as fc from '../../../support/fast-check.ts'

const FIELDS = 'Acme.Billing\nProduction\n'

/** The beginning of the details of a payload, before the fields. */
const ofPayload = (payload: string): string => {
  const text = detailsText(eventDocument({ payload }))
  expect(text).toMatch(/Production\norder-placed\n$/)
  return text.slice(0, -'Production\norder-placed\n'.length)
}

describe('the details of an entry', () => {
  test('have the fields that a row shows', () => {
    const fields = { categoryName: 'A.B', eventId: 2002, eventName: 'Failed', correlationKey: 'refund-911' }
    expect(detailsText(applicationDocument(fields))).toBe(`A.B\n2002\nFailed\nProduction\nrefund-911\n`)
    expect(detailsText(eventDocument({ step: 'order-placed.pay', environment: '' }))).toBe(
      'order-placed\norder-placed.pay\n',
    )
    expect(detailsText(applicationDocument({ eventId: 0, eventName: '' }))).toBe(FIELDS)
  })

  test('have each name of the scope data once for what it holds, then the whole paths', () => {
    const scopeData = {
      user: { id: 7, name: 'Ann', at: { x: 1 } },
      'user.idle': true,
      tags: ['a', 'b'],
      lines: [{ n: 1 }, { n: 2 }],
    }
    expect(detailsText(applicationDocument({ scopeData }))).toBe(
      'user.id 7\nname Ann\nat.x 1\nidle true\ntags a\nb\nlines.n 1\n2\n' +
        `user.name Ann\nuser.at.x 1\nuser.idle true\n${FIELDS}`,
    )
  })

  test('are in proportion to the scope data, however long its names are', () => {
    const inner = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`k${index}`, index]))
    const scopeData = { ['a.'.repeat(450)]: { ['b'.repeat(100)]: inner } }
    const repeatedMax = 6_000
    expect(detailsText(applicationDocument({ scopeData })).length).toBeLessThan(
      JSON.stringify(scopeData).length + repeatedMax,
    )
  })

  test('have those values of the payload that do not stand in it as they are', () => {
    expect(ofPayload('{"a":"one two","b":[12.5,true]}')).toBe('')
    expect(ofPayload('{"a":"one\\ntwo","b":1e3,"c":12,"d":1}')).toBe('one\ntwo\n1000\n1\n')
    expect(ofPayload('{"x1000":1e3}')).toBe('1000\n')
    expect(ofPayload('{"1000x":1e3}')).toBe('1000\n')
  })

  test('repeat the last of many values that take long to be sought in the payload', () => {
    const like = 'a'.repeat(400)
    const values = Array.from({ length: 850 }, () => `${like}b${like}`)
    const payload = JSON.stringify('a'.repeat(128 * 1024))
    const payloadLeaves = [...values, payload].map((value) => ['list', value] as const)
    const own = detailsText(eventDocument({ payload: '' }))
    const text = detailsText({ ...eventDocument({ payload: '' }), payload, payloadLeaves })
    expect(text).toBe(`${values.join('\n')}\n${payload}\n${own}`)
  })

  test('every leaf of a payload or of scope data has its words in a row, in the payload or beside it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const event = eventDocument({ payload: JSON.stringify({ value }, null, 1) })
        const application = applicationDocument({ scopeData: { value } })
        for (const document of [event, application]) {
          const texts = [document.payload ?? '', detailsText(document)].map((text) => ` ${splitWords(text).join(' ')} `)
          const own = document === event ? event.payloadLeaves : application.scopeLeaves
          for (const [, leaf] of own) {
            const row = ` ${splitWords(leaf).join(' ')} `
            expect(texts.some((words) => words.includes(row) || row === '  ')).toBe(true)
          }
        }
      }),
      { numRuns: 300 },
    )
  })
})
