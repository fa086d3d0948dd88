import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { parseQuery } from '../../shared/query/parse.ts'
import { applicationDocument, entriesOf, eventDocument, recordOf } from '../support/documents.ts'
import { eventually } from '../support/eventually.ts'
import { idsOf, newTeam, type Rig } from './log-store-rig.ts'

export function writingContract(rig: Rig): void {
  describe('writing', () => {
    test('every document has an outcome, in order, and is stored once by its id', async () => {
      const team = newTeam()
      const [a, b, c] = [eventDocument({ team }), applicationDocument({ team }), eventDocument({ team })]
      expect(await rig.put(a, b, a)).toEqual([{ outcome: 'stored' }, { outcome: 'stored' }, { outcome: 'duplicate' }])
      expect(await rig.put(b, c)).toEqual([{ outcome: 'duplicate' }, { outcome: 'stored' }])
      expect(await rig.store.count(entriesOf(team))).toBe(3)
    })

    test('the first document written with an id stays', async () => {
      const team = newTeam()
      const first = eventDocument({ team, payload: 'first' })
      await rig.put(first)
      const second = eventDocument({ team, id: first.id, payload: 'second' })
      expect(await rig.put(second)).toEqual([{ outcome: 'duplicate' }])
      expect(await rig.store.get(team, 'event', first.id)).toEqual(recordOf(first))
      expect(await rig.store.count(entriesOf(team, { query: parseQuery('second').query }))).toBe(0)
    })

    test('documents that several write at once are stored once', async () => {
      const team = newTeam()
      const documents = Array.from({ length: 50 }, () => applicationDocument({ team }))
      const { signal } = new AbortController()
      const writes = [documents, documents.toReversed(), documents.slice(10, 40), documents]
      const outcomes = await Promise.all(writes.map((batch) => rig.store.write(batch, signal)))
      expect(outcomes.flat().filter(({ outcome }) => outcome === 'stored')).toHaveLength(50)
      await rig.put(...documents)
      expect(new Set(idsOf(await rig.pages(entriesOf(team), { limit: 7 })))).toEqual(new Set(idsOf(documents)))
      expect(await rig.store.count(entriesOf(team))).toBe(50)
    })

    test('writing nothing does nothing', async () => {
      expect(await rig.store.write([], new AbortController().signal)).toEqual([])
      await rig.mergeFlows()
    })

    test('a signal that is aborted ends a write with its reason', async () => {
      const reason = new Error('the partition was taken away')
      const signal = AbortSignal.abort(reason)
      await expect(rig.store.write([eventDocument()], signal)).rejects.toBe(reason)
      await expect(rig.store.mergeFlows([], signal)).rejects.toBe(reason)
    })

    test('a bad document is refused, and the others of its batch are stored', async () => {
      const team = newTeam()
      const good = [eventDocument({ team }), applicationDocument({ team })]
      const bad = { ...eventDocument({ team }), timestamp: 'yesterday' }
      const outcomes = await rig.put(good[0]!, bad, good[1]!)
      expect(outcomes).toEqual([
        { outcome: 'stored' },
        { outcome: 'refused', reason: expect.any(String) },
        { outcome: 'stored' },
      ])
      expect(JSON.stringify(outcomes)).not.toContain('yesterday')
    })

    test('what is shown is the source and nothing else', async () => {
      const team = newTeam()
      const document = applicationDocument({ team, message: 'as searched' })
      const source = JSON.stringify({ ...recordOf(document), message: 'as shown', future: { a: [1, null, 'x'] } })
      await rig.put({ ...document, source })
      expect(await rig.store.get(team, 'application', document.id)).toEqual(JSON.parse(source))
      const { entries } = await rig.store.search(entriesOf(team, { query: parseQuery('searched').query }), {
        limit: 10,
        order: 'desc',
        after: null,
      })
      expect(entries).toEqual([JSON.parse(source)])
      expect(await rig.store.count(entriesOf(team, { query: parseQuery('shown').query }))).toBe(0)
    })

    test('retention removes whole days by the time of receipt, and nothing else', async () => {
      const team = newTeam()
      const received = (day: string, timestamp: string) =>
        eventDocument({ team, receivedAt: `${day}T23:59:59.999Z`, timestamp, id: randomUUID() })
      const old = [
        received('2001-01-01', '2026-01-01T00:00:00.000Z'),
        received('2001-01-02', '2001-01-02T00:00:00.000Z'),
      ]
      const kept = [received('2001-01-03', '1999-12-31T00:00:00.000Z'), eventDocument({ team })]
      await rig.put(...old, ...kept)
      expect(await rig.store.removeBefore('2001-01-03')).toBe(2)
      await rig.settled(async () => (await rig.store.count(entriesOf(team))) === 2)
      expect(new Set(idsOf(await rig.pages(entriesOf(team))))).toEqual(new Set(idsOf(kept)))
      for (const document of old) expect(await rig.store.get(team, 'event', document.id)).toBeUndefined()
      expect(await rig.store.removeBefore('2001-01-03')).toBe(0)
    })

    test('a document becomes visible without a refresh', async () => {
      const document = eventDocument({ team: newTeam() })
      await rig.store.write([document], new AbortController().signal)
      await eventually(async () => (await rig.store.count(entriesOf(document.team))) === 1)
    })

    test('the store says how late a document may become visible, and that it is well', async () => {
      expect(rig.store.searchableWithinMs).toBeGreaterThanOrEqual(0)
      expect(rig.store.searchableWithinMs).toBeLessThanOrEqual(5_000)
      expect(await rig.store.health()).toMatchObject({ ready: true })
    })
  })
}
