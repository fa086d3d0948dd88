import { describe, expect, test } from 'vitest'
import type { EntryFilter, TailCursor } from '../../shared/log-store/log-store.ts'
import { parseQuery } from '../../shared/query/parse.ts'
import { applicationDocument, entriesOf, eventDocument, recordOf } from '../support/documents.ts'
import { newTeam, type Rig } from './log-store-rig.ts'

export function tailingContract(rig: Rig): void {
  /** Reads from the cursor until so many entries came. */
  const follow = async (filter: EntryFilter, from: TailCursor, count: number, limit = 100) => {
    const ids: string[] = []
    const cursors: TailCursor[] = []
    let cursor = from
    await rig.settled(async () => {
      const page = await rig.store.tail(filter, cursor, limit)
      ids.push(...page.entries.map(({ entry }) => entry.id))
      cursors.push(...page.entries.map((entry) => entry.cursor))
      cursor = page.cursor
      return ids.length >= count
    })
    return { ids, cursors, cursor }
  }
  const present = async (filter: EntryFilter): Promise<TailCursor> => (await rig.store.tail(filter, null, 100)).cursor

  describe('the tail', () => {
    test('starts at the present end', async () => {
      const team = newTeam()
      await rig.put(eventDocument({ team }))
      const { entries, cursor } = await rig.store.tail(entriesOf(team), null, 100)
      expect(entries).toEqual([])
      const fresh = applicationDocument({ team })
      await rig.put(fresh)
      expect((await follow(entriesOf(team), cursor, 1)).ids).toEqual([fresh.id])
    })

    test('gives matches in the order of arrival, not of their timestamps', async () => {
      const team = newTeam()
      const start = await present(entriesOf(team))
      const years = ['2030', '1999', '2026', '1970']
      const documents = years.map((year) => eventDocument({ team, timestamp: `${year}-01-01T00:00:00.000Z` }))
      for (const document of documents) await rig.put(document)
      const { ids, cursor } = await follow(entriesOf(team), start, 4)
      expect(ids).toEqual(documents.map(({ id }) => id))
      expect((await rig.store.tail(entriesOf(team), cursor, 100)).entries).toEqual([])
    })

    test('gives the whole entry', async () => {
      const team = newTeam()
      const start = await present(entriesOf(team))
      const document = applicationDocument({ team, scopeData: { a: 1 } })
      await rig.put(document)
      await rig.settled(async () => {
        const { entries } = await rig.store.tail(entriesOf(team), start, 100)
        expect(entries.map(({ entry }) => entry)).toEqual([recordOf(document)])
      })
    })

    test('resumes after any entry, and after any page', async () => {
      const team = newTeam()
      const start = await present(entriesOf(team))
      const documents = Array.from({ length: 7 }, () => eventDocument({ team }))
      for (const document of documents) await rig.put(document)
      const ids = documents.map(({ id }) => id)
      const { cursors } = await follow(entriesOf(team), start, 7)
      for (const [index, cursor] of cursors.slice(0, -1).entries()) {
        expect((await follow(entriesOf(team), cursor, 6 - index)).ids).toEqual(ids.slice(index + 1))
      }
      expect((await follow(entriesOf(team), start, 7, 2)).ids).toEqual(ids)
    })

    test('gives what the filter finds only, and its cursor goes on where nothing matched', async () => {
      const team = newTeam()
      const filter = entriesOf(team, { kinds: ['application'], query: parseQuery('wanted').query })
      const start = await present(filter)
      await rig.put(eventDocument({ team, payload: 'wanted' }), applicationDocument({ team, message: 'other' }))
      await rig.settled(async () => {
        const { entries, cursor } = await rig.store.tail(filter, start, 100)
        expect(entries).toEqual([])
        expect(cursor).not.toBe(start)
      })
      const { cursor } = await rig.store.tail(filter, start, 100)
      const wanted = applicationDocument({ team, message: 'this is WANTED' })
      await rig.put(wanted)
      expect((await follow(filter, cursor, 1)).ids).toEqual([wanted.id])
      expect((await follow(filter, start, 1)).ids).toEqual([wanted.id])
    })

    test('skips and repeats nothing while several write', async () => {
      const team = newTeam()
      let cursor = await present(entriesOf(team))
      const batches = Array.from({ length: 12 }, () => Array.from({ length: 5 }, () => eventDocument({ team })))
      const { signal } = new AbortController()
      const writing = Promise.all(batches.map((batch) => rig.store.write(batch, signal)))
      const ids: string[] = []
      await rig.settled(async () => {
        const page = await rig.store.tail(entriesOf(team), cursor, 7)
        ids.push(...page.entries.map(({ entry }) => entry.id))
        cursor = page.cursor
        return ids.length >= 60
      })
      await writing
      expect(ids.toSorted()).toEqual(
        batches
          .flat()
          .map(({ id }) => id)
          .toSorted(),
      )
    })
  })
}
