import { describe, expect, test } from 'vitest'
import type { EntryDocument } from '../../shared/contract/documents.ts'
import { levelRank } from '../../shared/contract/levels.ts'
import { compareTimestamps, timestampOf } from '../../shared/contract/timestamp.ts'
import type { GroupField, Groups } from '../../shared/log-store/log-store.ts'
import { applicationDocument, entriesOf, eventDocument, groupValuesOf, NOON } from '../support/documents.ts'
import { queries, documents as someDocuments } from '../support/documents-arbitrary.ts'
import * as fc from '../support/fast-check.ts'
import { matches } from '../support/query.ts'
import { idsOf, newTeam, type Rig } from './log-store-rig.ts'

const NOON_MS = Date.parse(NOON)
const LIMITS = { groupsMax: 10, bucketsMax: 24 }
const FIELDS = [
  'template',
  'exceptionGroup',
  'category',
  'project',
  'level',
  'environment',
  'event',
  'step',
  'correlationKey',
  'eventName',
  'eventId',
  ...['a', 'a.b', 'x y', 'größe', 'q"\\', '__proto__'].map((path) => ({ field: 'scope', path }) as const),
  { field: 'payload', path: 'a' },
] as const satisfies readonly GroupField[]

const at = (minutes: number): string => timestampOf(NOON_MS + minutes * 60_000)

export function groupingContract(rig: Rig): void {
  describe('groups', () => {
    test('the largest comes first, each with its times, worst level, counts over time and last entry', async () => {
      const team = newTeam()
      const order = (number: number, fields: Parameters<typeof applicationDocument>[0]) =>
        applicationDocument({ team, message: `order ${number} is late`, ...fields })
      const documents = [
        order(1, { timestamp: at(0.5), level: 'Error' }),
        order(2, { timestamp: at(3), level: 'Debug' }),
        order(3, { timestamp: at(3.5), level: 'Warning' }),
        applicationDocument({ team, timestamp: at(2), message: 'started' }),
        applicationDocument({ team, timestamp: at(30), message: 'started' }),
        applicationDocument({ team, timestamp: at(5), message: '' }),
        eventDocument({ team, timestamp: at(6) }),
      ]
      await rig.put(...documents)
      const filter = entriesOf(team, { from: NOON, to: at(10) })
      expect(await rig.store.groups(filter, 'template', { groupsMax: 10, bucketsMax: 10 })).toEqual({
        intervalMs: 60_000,
        spans: Array.from({ length: 10 }, (_, minute) => at(minute)),
        groups: [
          {
            value: documents[0]?.template,
            count: 3,
            firstAt: at(0.5),
            lastAt: at(3.5),
            worstLevel: 'Error',
            counts: [1, 0, 0, 2, 0, 0, 0, 0, 0, 0],
            sample: expect.objectContaining({ id: documents[2]?.id, message: 'order 3 is late' }),
          },
          {
            value: documents[3]?.template,
            count: 1,
            firstAt: at(2),
            lastAt: at(2),
            worstLevel: 'Information',
            counts: [0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
            sample: expect.objectContaining({ id: documents[3]?.id }),
          },
        ],
        more: false,
        ungrouped: 2,
      })
    })

    test('a group narrows every read to its entries', async () => {
      const team = newTeam()
      const exception = (type: string) => `Acme.${type}: no\n   at Acme.Pay() in Pay.cs:line 3`
      const documents = [
        applicationDocument({ team, message: 'a 1', exception: exception('Refused') }),
        applicationDocument({ team, message: 'a 2' }),
        applicationDocument({ team, message: 'b', exception: exception('Refused') }),
        applicationDocument({ team, message: 'b', exception: exception('TimedOut') }),
      ]
      await rig.put(...documents)
      const [first, second, third, last] = documents
      const found = async (fields: Parameters<typeof entriesOf>[1]) =>
        new Set(idsOf(await rig.pages(entriesOf(team, fields))))
      expect(await found({ template: first?.template ?? '' })).toEqual(new Set([first?.id, second?.id]))
      expect(await found({ exceptionGroup: first?.exceptionGroup ?? '' })).toEqual(new Set([first?.id, third?.id]))
      expect(await found({ template: last?.template ?? '', exceptionGroup: last?.exceptionGroup ?? '' })).toEqual(
        new Set([last?.id]),
      )
      expect(await found({ template: '0000000000000' })).toEqual(new Set())
      expect(await rig.store.count(entriesOf(team, { template: first?.template ?? '' }))).toBe(2)
      const { groups, ungrouped } = await rig.store.groups(
        entriesOf(team, { template: first?.template ?? '' }),
        'exceptionGroup',
        LIMITS,
      )
      expect(groups.map(({ value, count }) => [value, count])).toEqual([[first?.exceptionGroup, 1]])
      expect(ungrouped).toBe(1)
    })

    test('a value inside the scope data makes groups, and an entry with several is in each', async () => {
      const team = newTeam()
      const of = (scopeData: Record<string, unknown>) => applicationDocument({ team, scopeData })
      const [first, second, third] = [
        of({ 'a.b': 'x' }),
        of({ a: { b: ['x', 'y', 'x'] } }),
        of({ a: { b: 7, bc: 'z' } }),
      ]
      await rig.put(
        first,
        second,
        third,
        of({ ab: 'x' }),
        of({ a: 'b\u0000x' }),
        eventDocument({ team, payload: '{"a":{"b":"x"}}' }),
      )
      const by = { field: 'scope', path: 'a.b' } as const
      const { groups, ungrouped } = await rig.store.groups(entriesOf(team), by, LIMITS)
      expect(groups.map(({ value, count }) => [value, count])).toEqual([
        ['x', 2],
        ['7', 1],
        ['y', 1],
      ])
      expect(groups.at(1)?.sample.id).toBe(third.id)
      expect(ungrouped).toBe(3)
    })

    test('there are never more than asked for, and whether there are is told', async () => {
      const team = newTeam()
      const words = ['one', 'two', 'three', 'four', 'five']
      await rig.put(...words.map((message) => applicationDocument({ team, message })))
      for (const groupsMax of [1, 4, 5, 200]) {
        const { groups, more } = await rig.store.groups(entriesOf(team), 'template', { groupsMax, bucketsMax: 5 })
        expect(groups).toHaveLength(Math.min(groupsMax, words.length))
        expect(more).toBe(groupsMax < words.length)
      }
    })

    test('of nothing there are none', async () => {
      const filter = entriesOf(newTeam(), { from: NOON, to: at(1) })
      for (const by of FIELDS) {
        expect(await rig.store.groups(filter, by, LIMITS)).toMatchObject({ groups: [], more: false, ungrouped: 0 })
      }
      expect(await rig.store.groups(entriesOf(newTeam()), 'level', LIMITS)).toMatchObject({ spans: [], groups: [] })
    })

    test('a list of long entries ends early, and says that there are more', async () => {
      const team = newTeam()
      const long = 'é'.repeat(4_000)
      const documents = Array.from({ length: 200 }, (_, index) =>
        applicationDocument({
          team,
          categoryName: `c${index}`,
          message: long,
          exception: long,
          eventName: 'n'.repeat(2_000),
          scopeData: { a: long },
        }),
      )
      await rig.put(...documents)
      const { groups, more } = await rig.store.groups(entriesOf(team), 'category', { groupsMax: 200, bucketsMax: 1 })
      expect(groups.length).toBeGreaterThan(50)
      expect(groups.length).toBeLessThan(200)
      expect(more).toBe(true)
    })

    test('they are what one who goes through the matches would find', async () => {
      const team = newTeam()
      const documents = fc.sample(someDocuments(team), { numRuns: 60, seed: 6 })
      await rig.put(...documents)
      await fc.assert(
        fc.asyncProperty(queries, fc.constantFrom(...FIELDS), async (query, by) => {
          const found = documents.filter((document) => matches(query, document))
          const groups = await rig.store.groups(entriesOf(team, { query }), by, { groupsMax: 100, bucketsMax: 7 })
          expectGroups(groups, found, by)
        }),
        { numRuns: 30 },
      )
    })
  })
}

function expectGroups({ groups, spans, intervalMs, more, ungrouped }: Groups, found: EntryDocument[], by: GroupField) {
  const byValue = new Map<string, EntryDocument[]>()
  for (const document of found)
    for (const value of groupValuesOf(document, by)) byValue.set(value, [...(byValue.get(value) ?? []), document])
  expect(more).toBe(false)
  expect(ungrouped).toBe(found.filter((document) => groupValuesOf(document, by).length === 0).length)
  expect(new Set(groups.map(({ value }) => value))).toEqual(new Set(byValue.keys()))
  expect(groups.map(({ count }) => count)).toEqual(groups.map(({ count }) => count).toSorted((a, b) => b - a))
  for (const { value, count, firstAt, lastAt, worstLevel, counts, sample } of groups) {
    const own = (byValue.get(value) ?? []).toSorted(
      (a, b) => compareTimestamps(a.timestamp, b.timestamp) || (a.id < b.id ? -1 : 1),
    )
    expect([count, firstAt, lastAt]).toEqual([own.length, own[0]?.timestamp, own.at(-1)?.timestamp])
    expect(levelRank(worstLevel)).toBe(Math.max(...own.map(({ level }) => levelRank(level))))
    expect(sample.id).toBe(own.at(-1)?.id)
    expect(counts).toEqual(
      spans.map((span) => {
        const from = Date.parse(span)
        const isWithin = (ms: number): boolean => ms >= from && ms < from + intervalMs
        return own.filter(({ timestamp }) => isWithin(Date.parse(`${timestamp.slice(0, 23)}Z`))).length
      }),
    )
  }
}
