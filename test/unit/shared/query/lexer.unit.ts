import { describe, expect, test } from 'vitest'
import { lex } from '../../../../shared/query/lexer.ts'
import { searchTexts } from '../../../support/documents-arbitrary.ts'
import * as fc from '../../../support/fast-check.ts'

describe('lexemes', () => {
  test('each says what it is and where it stands', () => {
    const text = '-level:>=warn (foo OR "a b"*) eventId:[1 TO 2]'
    const { lexemes, problem } = lex(text)
    expect(problem).toBeNull()
    expect(lexemes.map(({ kind, at, end }) => [kind, text.slice(at, end)])).toEqual([
      ['not', '-'],
      ['field', 'level:'],
      ['comparison', '>='],
      ['value', 'warn'],
      ['open', '('],
      ['value', 'foo'],
      ['or', 'OR'],
      ['value', '"a b"*'],
      ['close', ')'],
      ['field', 'eventId:'],
      ['range', '[1 TO 2]'],
    ])
  })

  test('what was read before a problem is kept', () => {
    const { lexemes, problem } = lex('foo "bar')
    expect(lexemes).toHaveLength(1)
    expect(problem).toMatchObject({ at: 4 })
  })

  test('they follow each other, and only blanks lie between', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), searchTexts), (text) => {
        const { lexemes, problem } = lex(text)
        let at = 0
        for (const lexeme of lexemes) {
          expect(text.slice(at, lexeme.at).trim()).toBe('')
          expect(lexeme.end).toBeGreaterThan(lexeme.at)
          at = lexeme.end
        }
        if (problem === null) expect(text.slice(at).trim()).toBe('')
      }),
    )
  })
})
