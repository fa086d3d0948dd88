import { expect, test } from 'vitest'
import { wordLine } from '../../../../../shared/log-store/elasticsearch/entry-body.ts'
import { splitWords, WORD_LENGTH_MAX } from '../../../../../shared/query/words.ts'
import * as fc from '../../../../support/fast-check.ts'

const naive = (text: string): string => splitWords(text).join(' ')

test('the words of a text stand with one blank between them', () => {
  expect(wordLine('  Order-17 was REFUSED: card_declined (x2)! ')).toBe('order 17 was refused card declined x2')
  expect(wordLine('')).toBe('')
  expect(wordLine(' .:! ')).toBe('')
  expect(wordLine('Straße 日本 ΟΔΟΣ')).toBe(naive('Straße 日本 ΟΔΟΣ'))
})

test('a long word is cut where every store cuts it, and so are texts longer than the room', () => {
  const long = 'A'.repeat(WORD_LENGTH_MAX + 5)
  expect(wordLine(`${long} b ${long}`)).toBe(naive(`${long} b ${long}`))
  const text = 'word '.repeat(20_000)
  expect(wordLine(text)).toBe(naive(text))
})

test('whatever the text, it is split as all stores split', () => {
  const ascii = fc.string({ unit: fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code)) })
  const wordy = fc.array(
    fc.oneof(fc.constant('-'), fc.string({ maxLength: 200, unit: fc.constantFrom('a', 'Z', '7') })),
  )
  const any = fc.oneof(
    ascii,
    fc.string({ unit: 'binary' }),
    wordy.map((parts) => parts.join(' ')),
  )
  fc.assert(fc.property(any, (text) => wordLine(text) === naive(text)))
})
