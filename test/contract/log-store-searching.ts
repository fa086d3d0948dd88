import { beforeAll, describe, expect, test } from 'vitest'
import type { EntryDocument } from '../../shared/contract/documents.ts'
import { fromNanos, MINUTE_NANOS, toNanos } from '../../shared/contract/timestamp.ts'
import type { EntryFilter } from '../../shared/log-store/log-store.ts'
import { applicationDocument, entriesOf, eventDocument, NOON, PROJECT, recordOf } from '../support/documents.ts'
import { idsOf, inOrder, newTeam, type Rig } from './log-store-rig.ts'

export function searchingContract(rig: Rig): void {
  describe('searching', () => {
    test('entries are ordered by (timestamp, id), to the nanosecond and either way', async () => {
      const team = newTeam()
      const documents = [0n, 1n, 1n, 1n, 2n, 999_999_999n, 1_000_000_000n].map((nanos) =>
        eventDocument({ team, timestamp: fromNanos(toNanos(NOON) + nanos) }),
      )
      await rig.put(...documents.toReversed())
      expect(await rig.pages(entriesOf(team))).toEqual(inOrder(documents))
      expect(await rig.pages(entriesOf(team), { order: 'desc' })).toEqual(inOrder(documents).toReversed())
    })

    test.each([1, 2, 3, 7, 50])('pages of %i follow each other, also among equal timestamps', async (limit) => {
      const team = newTeam()
      const documents = Array.from({ length: 14 }, (_, index) => {
        const nanos = [0n, 1n, 2n, MINUTE_NANOS, MINUTE_NANOS + 1n][index % 5] ?? 0n
        const fields = { team, timestamp: fromNanos(toNanos(NOON) + nanos) }
        return index % 2 === 0 ? eventDocument(fields) : applicationDocument(fields)
      })
      await rig.put(...documents)
      expect(await rig.pages(entriesOf(team), { limit })).toEqual(inOrder(documents))
      expect(await rig.pages(entriesOf(team), { limit, order: 'desc' })).toEqual(inOrder(documents).toReversed())
    })

    test.each(['asc', 'desc'] as const)(
      'pages %s neither skip nor repeat when entries arrive meanwhile',
      async (order) => {
        const team = newTeam()
        const fresh = (count: number): EntryDocument[] =>
          Array.from({ length: count }, (_, index) =>
            eventDocument({ team, timestamp: fromNanos(toNanos(NOON) + BigInt(index % 4)) }),
          )
        const there = fresh(20)
        await rig.put(...there)
        const seen: string[] = []
        for (let after = null as { timestamp: string; id: string } | null, more = true; more; ) {
          const page = await rig.store.search(entriesOf(team), { limit: 3, order, after })
          seen.push(...idsOf(page.entries))
          if (seen.length < 30) await rig.put(...fresh(3))
          after = page.next
          more = after !== null
        }
        const wanted = idsOf(order === 'asc' ? inOrder(there) : inOrder(there).toReversed())
        expect(seen.filter((id) => wanted.includes(id))).toEqual(wanted)
        expect(new Set(seen).size).toBe(seen.length)
      },
    )

    test('a page that holds the last entry has no next', async () => {
      const team = newTeam()
      await rig.put(eventDocument({ team }), eventDocument({ team }))
      const page = { order: 'desc' as const, after: null }
      expect((await rig.store.search(entriesOf(team), { limit: 2, ...page })).next).toBeNull()
      expect((await rig.store.search(entriesOf(team), { limit: 1, ...page })).next).not.toBeNull()
      expect(await rig.store.search(entriesOf(newTeam()), { limit: 1, ...page })).toEqual({ entries: [], next: null })
    })

    test('a place between entries need not be an entry that is there', async () => {
      const team = newTeam()
      const document = eventDocument({ team })
      await rig.put(document)
      const after = { timestamp: NOON, id: '00000000-0000-0000-0000-000000000000' }
      expect(idsOf(await rig.pages(entriesOf(team), { after }))).toEqual([document.id])
      expect(await rig.pages(entriesOf(team), { after, order: 'desc' })).toEqual([])
    })

    test('an entry is got by its Team, kind and id', async () => {
      const team = newTeam()
      const document = applicationDocument({ team, scopeData: { a: [{ b: null }] } })
      await rig.put(document)
      expect(await rig.store.get(team, 'application', document.id)).toEqual(recordOf(document))
      expect(await rig.store.get(team, 'event', document.id)).toBeUndefined()
      expect(await rig.store.get(newTeam(), 'application', document.id)).toBeUndefined()
      expect(await rig.store.get(team, 'application', eventDocument().id)).toBeUndefined()
    })
  })

  describe('filters', () => {
    const team = newTeam()
    const at = (nanos: bigint): string => fromNanos(toNanos(NOON) + nanos)
    const other = '0198d5b2-7c1e-7000-8a3b-2f4c6d8e0a1b'
    const documents = {
      event: eventDocument({ team, timestamp: at(0n), level: 'Trace', environment: 'Test', correlationKey: 'a' }),
      step: eventDocument({ team, timestamp: at(1n), level: 'Warning', step: 'order-placed.pay', correlationKey: 'A' }),
      lone: eventDocument({ team, timestamp: at(2n), event: null, step: 'order-placed.pay2' }),
      app: applicationDocument({ team, timestamp: at(3n), level: 'Error', categoryName: 'Acme.Billing.Jobs' }),
      root: applicationDocument({ team, timestamp: at(4n), categoryName: 'Acme.Billing', correlationKey: 'a' }),
      twin: applicationDocument({ team, timestamp: at(5n), categoryName: 'Acme.BillingX', project: other }),
      last: applicationDocument({
        team,
        timestamp: at(6n),
        level: 'Critical',
        categoryName: 'acme',
        environment: 'test',
      }),
    }
    const CASES: readonly (readonly [string, Partial<EntryFilter>, readonly (keyof typeof documents)[]])[] = [
      ['nothing', {}, ['event', 'step', 'lone', 'app', 'root', 'twin', 'last']],
      ['a kind', { kinds: ['event'] }, ['event', 'step', 'lone']],
      ['both kinds', { kinds: ['application', 'event'] }, ['event', 'step', 'lone', 'app', 'root', 'twin', 'last']],
      ['from, inclusive', { from: at(4n) }, ['root', 'twin', 'last']],
      ['to, exclusive', { to: at(2n) }, ['event', 'step']],
      ['from and to', { from: at(1n), to: at(3n) }, ['step', 'lone']],
      ['an empty range', { from: at(3n), to: at(3n) }, []],
      ['a range that is upside down', { from: at(4n), to: at(3n) }, []],
      ['a level at least', { levelMin: 'Warning' }, ['step', 'app', 'last']],
      ['a level at most', { levelMax: 'Information' }, ['event', 'lone', 'root', 'twin']],
      ['one level', { levelMin: 'Warning', levelMax: 'Warning' }, ['step']],
      ['no level', { levelMin: 'Error', levelMax: 'Warning' }, []],
      ['the environment, in its case', { environment: 'Test' }, ['event']],
      ['the correlationKey, in its case', { correlationKey: 'a' }, ['event', 'root']],
      ['an Event and its Steps', { event: 'order-placed' }, ['event', 'step']],
      ['a Step', { step: 'order-placed.pay' }, ['step']],
      ['a Step alone', { step: 'order-placed.pay2' }, ['lone']],
      ['a Project', { project: PROJECT }, ['app', 'root', 'last']],
      ['a category and all below', { category: 'Acme.Billing' }, ['app', 'root']],
      ['the top of categories', { category: 'Acme' }, ['app', 'root', 'twin']],
      ['no part of a name', { category: 'Acme.Bill' }, []],
      ['all together', { kinds: ['event'], levelMin: 'Debug', event: 'order-placed', correlationKey: 'A' }, ['step']],
      ['what nothing has', { correlationKey: '' }, []],
      ['characters that mean something elsewhere', { category: 'Acme%' }, []],
    ]

    beforeAll(async () => {
      await rig.put(...Object.values(documents))
    }, 60_000)

    test.each(CASES)('by %s', async (_, fields, names) => {
      const filter = entriesOf(team, fields)
      expect(idsOf(await rig.pages(filter))).toEqual(names.map((name) => documents[name].id))
      expect(await rig.store.count(filter)).toBe(names.length)
      expect(idsOf(await rig.pages(filter, { limit: 2, order: 'desc' }))).toEqual(
        names.map((name) => documents[name].id).toReversed(),
      )
    })
  })

  test('every reading call is for one Team and sees no other', async () => {
    const [mine, theirs] = [newTeam(), newTeam()]
    const fields = { correlationKey: 'shared', payload: 'secret' }
    const [own, foreign] = [eventDocument({ team: mine, ...fields }), eventDocument({ team: theirs, ...fields })]
    const start = await rig.store.tail(entriesOf(mine), null, 10)
    await rig.put(own, foreign)
    const filter = entriesOf(mine, { correlationKey: 'shared' })
    expect(idsOf(await rig.pages(filter))).toEqual([own.id])
    expect(await rig.store.count(filter)).toBe(1)
    expect((await rig.store.histogram(filter, 10)).total).toBe(1)
    expect((await rig.store.facets(filter, 10)).environment).toEqual([{ value: 'Production', count: 1 }])
    const { groups } = await rig.store.groups(filter, 'correlationKey', { groupsMax: 10, bucketsMax: 1 })
    expect(groups).toMatchObject([{ count: 1, sample: { id: own.id } }])
    const request = { fn: 'count', of: null, by: 'correlationKey', seriesMax: 10, bucketsMax: 1 } as const
    expect((await rig.store.series(filter, request)).series).toMatchObject([{ count: 1 }])
    expect(await rig.store.get(mine, 'event', foreign.id)).toBeUndefined()
    const byId = entriesOf(mine, { query: { type: 'equals', field: 'id', value: foreign.id, prefix: false } })
    expect(await rig.store.count(byId)).toBe(0)
    const byWord = entriesOf(mine, {
      query: { type: 'words', field: null, words: ['secret'], phrase: false, prefix: false },
    })
    expect(idsOf(await rig.pages(byWord))).toEqual([own.id])
    await rig.settled(async () => {
      const { entries } = await rig.store.tail(entriesOf(mine), start.cursor, 10)
      expect(entries.map(({ entry }) => entry.id)).toEqual([own.id])
    })
    expect((await rig.store.flow(mine, 'shared'))?.groups.map(({ count }) => count) ?? [1]).toEqual([1])
  })
}
