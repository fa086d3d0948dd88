import { beforeAll, describe, expect, test } from 'vitest'
import { parseQuery } from '../../shared/query/parse.ts'
import { entriesOf, eventDocument } from '../support/documents.ts'
import { queries, documents as someDocuments } from '../support/documents-arbitrary.ts'
import * as fc from '../support/fast-check.ts'
import { matches } from '../support/query.ts'
import { newTeam, type Rig } from './log-store-rig.ts'
import { QUERY_CASES, queryDocuments } from './query-cases.ts'

export function queryContract(rig: Rig): void {
  describe('the grammar', () => {
    const team = newTeam()
    const documents = queryDocuments(team)

    beforeAll(async () => {
      await rig.put(...Object.values(documents))
    }, 60_000)

    test.each(QUERY_CASES)('%s', async (text, names) => {
      const filter = entriesOf(team, { query: parseQuery(text).query })
      const found = (await rig.pages(filter, { limit: 2 })).map(({ id }) => id)
      expect(namesOf(found)).toEqual(names.toSorted())
      expect(await rig.store.count(filter)).toBe(names.length)
      expect(names.every((name) => documents[name] !== undefined)).toBe(true)
    })

    test('an entry is found by its id, and by the beginning of it', async () => {
      const id = documents['paid']?.id ?? ''
      const { query } = parseQuery(`id:${id.toUpperCase()}`)
      expect(await rig.store.count(entriesOf(team, { query }))).toBe(1)
      for (const length of [1, 8, 9, 13, 30, 36]) {
        const part = parseQuery(`id:${id.slice(0, length)}* id:${id}`)
        expect(await rig.store.count(entriesOf(team, { query: part.query }))).toBe(1)
      }
    })

    test('an entry is found by its id or by words, and none by the id of another Team', async () => {
      const [id, other] = [documents['placed']?.id, eventDocument({ team: newTeam() })]
      await rig.put(other)
      const { query } = parseQuery(`psp OR id:${id} OR id:${other.id} OR id:none`)
      const filter = entriesOf(team, { query })
      expect(namesOf((await rig.pages(filter, { limit: 1 })).map((entry) => entry.id))).toEqual(['paid', 'placed'])
      expect(await rig.store.count(filter)).toBe(2)
    })

    const namesOf = (ids: readonly string[]): readonly string[] =>
      Object.entries(documents)
        .filter(([, { id }]) => ids.includes(id))
        .map(([name]) => name)
        .toSorted()
  })

  test('any query finds in any documents what the grammar means', async () => {
    const team = newTeam()
    const stored = fc.sample(someDocuments(team), { numRuns: 150, seed: 7 })
    for (let from = 0; from < stored.length; from += 25) await rig.put(...stored.slice(from, from + 25))
    await fc.assert(
      fc.asyncProperty(queries, async (query) => {
        const filter = entriesOf(team, { query })
        const wanted = stored.filter((document) => matches(query, document)).map(({ id }) => id)
        const found = (await rig.pages(filter, { limit: 1_000 })).map(({ id }) => id)
        expect(found.toSorted()).toEqual(wanted.toSorted())
      }),
      { numRuns: 250 },
    )
  }, 120_000)
}
