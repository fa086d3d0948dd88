import { describe, expect, test } from 'vitest'
import { ROW_TEXT_CHARACTERS_MAX, rowOf } from '../../shared/contract/rows.ts'
import { PAGE_BYTES_MAX, TailCursorError } from '../../shared/log-store/log-store.ts'
import { parseQuery } from '../../shared/query/parse.ts'
import { applicationDocument, entriesOf, eventDocument, recordOf } from '../support/documents.ts'
import { idsOf, inOrder, newTeam, type Rig } from './log-store-rig.ts'

const LONG = 'é'.repeat(ROW_TEXT_CHARACTERS_MAX)
const PAGE = { limit: 100, order: 'asc', after: null } as const

export function boundsContract(rig: Rig): void {
  describe('what a read can take', () => {
    test('rows have the beginnings of long texts, and the entry by its id is whole', async () => {
      const team = newTeam()
      const documents = [
        eventDocument({ team, payload: `${LONG}end` }),
        applicationDocument({ team, message: `${LONG}end`, exception: `${LONG}end`, scopeData: { a: 1, b: LONG } }),
        applicationDocument({ team, message: LONG, scopeData: { digits: 1, text: '\ud83d\ude00' } }),
        eventDocument({ team, payload: `${LONG.slice(1)}\ud83d\ude00` }),
      ]
      await rig.put(...documents)
      const wholes = inOrder(documents)
      expect(await rig.pages(entriesOf(team), { form: 'row' })).toEqual(wholes.map(rowOf))
      expect(await rig.pages(entriesOf(team))).toEqual(wholes)
      const [, application] = documents.map(recordOf)
      const { entries } = await rig.store.search(entriesOf(team), { ...PAGE, form: 'row' })
      expect(entries.find(({ id }) => id === application?.id)).toMatchObject({
        message: LONG,
        exception: LONG,
        scopeData: { a: 1 },
        truncated: ['message', 'exception', 'scopeData'],
      })
      for (const entry of wholes) expect(await rig.store.get(team, entry.kind, entry.id)).toEqual(entry)
    })

    test('a page ends early at a number of bytes, and its cursor goes on from there', async () => {
      const team = newTeam()
      const documents = Array.from({ length: 7 }, (_, index) =>
        eventDocument({ team, payload: 'x'.repeat(index === 3 ? 2_900_000 : 900_000) }),
      )
      await rig.put(...documents)
      const first = await rig.store.search(entriesOf(team), PAGE)
      const bytes = first.entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0)
      expect(first.entries.length).toBeGreaterThan(0)
      expect(first.entries.length === 1 || bytes <= PAGE_BYTES_MAX).toBe(true)
      expect(first.next).not.toBeNull()
      expect(await rig.pages(entriesOf(team))).toEqual(inOrder(documents))
      expect(idsOf(await rig.pages(entriesOf(team), { form: 'row', order: 'desc' }))).toEqual(
        idsOf(inOrder(documents)).toReversed(),
      )
    })

    test('a tail gives rows, a bounded number of bytes at a time', async () => {
      const team = newTeam()
      const { cursor: start } = await rig.store.tail(entriesOf(team), null, 100)
      const documents = Array.from({ length: 20 }, () =>
        applicationDocument({ team, message: `${LONG}end`, exception: `${LONG}end`, categoryName: 'c'.repeat(4_000) }),
      )
      await rig.put(...documents)
      const ids: string[] = []
      let cursor = start
      await rig.settled(async () => {
        const page = await rig.store.tail(entriesOf(team), cursor, 7)
        for (const { entry } of page.entries) expect(entry).toEqual(rowOf(recordOf(documentOf(entry.id))))
        ids.push(...page.entries.map(({ entry }) => entry.id))
        cursor = page.cursor
        return ids.length >= documents.length
      })
      expect(ids.toSorted()).toEqual(documents.map(({ id }) => id).toSorted())

      function documentOf(id: string) {
        const found = documents.find((document) => document.id === id)
        if (found === undefined) throw new Error('an entry that was not written')
        return found
      }
    })

    test.each(['', 'x', '-1', '1.5', '9'.repeat(30), 'ea~%'])('%j is no cursor of a tail', async (cursor) => {
      await expect(rig.store.tail(entriesOf(newTeam()), cursor, 10)).rejects.toBeInstanceOf(TailCursorError)
    })
  })

  describe('a read that nobody waits for', () => {
    const reason = new Error('nobody waits')
    const reads = (signal: AbortSignal) => {
      const filter = entriesOf(newTeam(), { query: parseQuery('a OR "b c"').query })
      return [
        rig.store.search(filter, PAGE, signal),
        rig.store.get(filter.team, 'event', 'an-id', signal),
        rig.store.count(filter, signal),
        rig.store.histogram(filter, 10, signal),
        rig.store.facets(filter, 10, signal),
        rig.store.groups(filter, 'template', { groupsMax: 10, bucketsMax: 10 }, signal),
        rig.store.series(filter, { fn: 'count', of: null, by: null, seriesMax: 1, bucketsMax: 10 }, signal),
        rig.store.tail(filter, null, 10, signal),
        rig.store.flow(filter.team, 'a key', signal),
      ]
    }

    test('rejects with the reason, whether it had begun or not', async () => {
      for (const read of reads(AbortSignal.abort(reason))) await expect(read).rejects.toBe(reason)
      const giving = new AbortController()
      const begun = reads(giving.signal)
      giving.abort(reason)
      const outcomes = await Promise.allSettled(begun)
      // A read that was faster than its reader's change of mind has its answer.
      for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toBe(reason)
      expect(await rig.store.count(entriesOf(newTeam()))).toBe(0)
    })
  })
}
