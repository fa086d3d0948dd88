import { describe, expect, test } from 'vitest'
import type { EntryDocument } from '../../shared/contract/documents.ts'
import type { Query } from '../../shared/query/ast.ts'
import { applicationDocument, documentOf, entriesOf, eventDocument, recordOf } from '../support/documents.ts'
import { matches } from '../support/query.ts'
import { newTeam, type Rig } from './log-store-rig.ts'

const NASTY = 'a\0b\ud800 \udfff\u{1f44d}\u{10ffff}\ufeff\u202e%_*?\'"\\;--\r\n\t\u0085\u2028'
/** Keys of scope data as a client may send them; JSON.parse makes `__proto__` an own key. */
const ODD_SCOPE: Record<string, unknown> = JSON.parse(
  '{"":{"":"empty"},"__proto__":{"polluted":"yes"},"constructor":1,"a.b":"dot","n\\u0000ul":"x","😀":"emoji","\\ud83d":"half","toString":null}',
)

function nested(depth: number): Record<string, unknown> {
  let value: Record<string, unknown> = { leaf: 'deep' }
  for (let level = 1; level < depth; level += 1) value = { n: value }
  return value
}

const DOCUMENTS: readonly (readonly [string, (team: string) => EntryDocument])[] = [
  [
    'NUL, lone surrogates and all kinds of marks',
    (team) => applicationDocument({ team, message: NASTY, exception: NASTY }),
  ],
  [
    'the same in every keyword',
    (team) => eventDocument({ team, event: NASTY, step: NASTY, environment: NASTY, correlationKey: NASTY }),
  ],
  [
    'a name of a category that is no text',
    (team) => applicationDocument({ team, categoryName: `${NASTY}.${NASTY}`, eventName: NASTY }),
  ],
  [
    'keys that are special in JavaScript, empty or broken',
    (team) => applicationDocument({ team, scopeData: ODD_SCOPE }),
  ],
  ['scope data 64 levels deep', (team) => applicationDocument({ team, scopeData: nested(64) })],
  [
    'a payload 5,000 arrays deep',
    (team) => eventDocument({ team, payload: `${'['.repeat(5_000)}1${']'.repeat(5_000)}` }),
  ],
  ['a thousand keys', (team) => applicationDocument({ team, scopeData: wide(2_000) })],
  ['a text of a million words', (team) => eventDocument({ team, payload: 'a '.repeat(500_000) })],
  ['one word of a million letters', (team) => eventDocument({ team, payload: 'z'.repeat(1_000_000) })],
  ['a million of emoji', (team) => applicationDocument({ team, message: '👩‍👩‍👧'.repeat(120_000) })],
  [
    'a value of a megabyte in the scope',
    (team) => applicationDocument({ team, scopeData: { big: 'v'.repeat(1_000_000) } }),
  ],
  ['a message of blanks', (team) => applicationDocument({ team, message: '   ', exception: '' })],
]

const wide = (count: number): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, `value ${index}`]))

export function hostileContract(rig: Rig): void {
  describe('whatever was accepted is stored, shown as it came and found', () => {
    test.each(DOCUMENTS)('%s', async (_, make) => {
      const team = newTeam()
      const document = make(team)
      expect(await rig.put(document)).toEqual([{ outcome: 'stored' }])
      expect(await rig.store.get(team, document.kind, document.id)).toEqual(recordOf(document))
      const { entries } = await rig.store.search(entriesOf(team), { limit: 10, order: 'desc', after: null })
      expect(entries).toEqual([recordOf(document)])
      expect(Object.keys(entries[0] ?? {})).toEqual(Object.keys(recordOf(document)))
      expect((await rig.store.facets(entriesOf(team), 10)).environment).toEqual([
        { value: document.environment, count: 1 },
      ])
    })

    test('a key of the prototype is a key like any other', async () => {
      const team = newTeam()
      await rig.put(documentOf(recordOf(applicationDocument({ team, scopeData: ODD_SCOPE }))))
      const query: Query = { type: 'leaf', field: 'scope', path: '__proto__.polluted', value: 'yes', prefix: false }
      const { entries } = await rig.store.search(entriesOf(team, { query }), { limit: 10, order: 'desc', after: null })
      const [entry] = entries
      expect(entry?.kind === 'application' && JSON.stringify(entry.scopeData)).toBe(JSON.stringify(ODD_SCOPE))
      expect('polluted' in {}).toBe(false)
    })

    test('a number that JavaScript cannot hold is shown digit by digit', async () => {
      const team = newTeam()
      const document = applicationDocument({ team, scopeData: { id: 'here' } })
      const source = document.source.replace('"here"', '12345678901234567890')
      await rig.put({ ...document, source })
      expect(JSON.stringify(await rig.store.get(team, document.kind, document.id))).toBe(source)
    })

    test('odd keywords are found as they are', async () => {
      const team = newTeam()
      const document = eventDocument({ team, step: NASTY, environment: NASTY, correlationKey: NASTY })
      await rig.put(document)
      const { step, environment, correlationKey } = document
      expect(await rig.store.count(entriesOf(team, { step, environment, correlationKey }))).toBe(1)
      expect(await rig.store.count(entriesOf(team, { step: `${step}x` }))).toBe(0)
    })

    test.each<Query>([
      { type: 'words', field: null, words: ['deep'], phrase: false, prefix: false },
      { type: 'leaf', field: 'scope', path: '_._', value: 'empty', prefix: false },
      { type: 'leaf', field: 'scope', path: 'a.b', value: 'dot', prefix: false },
      { type: 'leaf', field: 'scope', path: 'n\uFFFDul', value: 'x', prefix: false },
      { type: 'leaf', field: 'scope', path: '😀', value: 'emo', prefix: true },
      { type: 'leafExists', field: 'scope', path: '\uFFFD' },
      { type: 'leafExists', field: 'scope', path: 'toString' },
      { type: 'leafExists', field: 'scope', path: 'key999' },
      { type: 'leaf', field: 'scope', path: 'key1500', value: 'value 1500', prefix: false },
      { type: 'words', field: 'payload', words: ['z'.repeat(128)], phrase: false, prefix: false },
      { type: 'words', field: 'payload', words: ['z'.repeat(100)], phrase: false, prefix: true },
      { type: 'words', field: 'payload', words: ['a', 'a', 'a', 'a'], phrase: true, prefix: false },
      { type: 'exists', field: 'exception' },
      { type: 'exists', field: 'message' },
    ])('%j finds of them what it should', async (query) => {
      const documents = DOCUMENTS.map(([, make]) => make(shared))
      ready ??= rig.put(...kept(documents))
      await ready
      const found = await rig.pages(entriesOf(shared, { query }))
      expect(found.map(({ id }) => id).toSorted()).toEqual(
        stored
          .filter((document) => matches(query, document))
          .map(({ id }) => id)
          .toSorted(),
      )
    })
  })

  const shared = newTeam()
  let ready: Promise<unknown> | undefined
  let stored: readonly EntryDocument[] = []
  const kept = (documents: readonly EntryDocument[]): readonly EntryDocument[] => {
    stored = documents
    return documents
  }
}
