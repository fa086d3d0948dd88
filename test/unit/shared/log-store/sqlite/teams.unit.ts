import { describe, expect, test } from 'vitest'
import type { EntryDocument } from '../../../../../shared/contract/documents.ts'
import { openStore, type Store } from '../../../../../shared/log-store/sqlite/store.ts'
import { deltasOf } from '../../../../contract/log-store-flows.ts'
import { flowsOf } from '../../../../contract/log-store-rig.ts'
import { applicationDocument, entriesOf } from '../../../../support/documents.ts'
import {
  damage,
  eachInNewFile,
  inFile,
  listed,
  removeBefore,
  toVersion1,
  toVersion7,
  toVersion8,
} from '../../../../support/sqlite-file.ts'

let file: string
eachInNewFile((path) => {
  file = path
})

/** Names that are numbers, as keys are, and one that is none. */
const NAMES = ['payments', '1', '2', '3', '9'.repeat(30), '007', '-8']

const documentsOf = (names: readonly string[], at: string): readonly EntryDocument[] =>
  names.map((team) =>
    applicationDocument({
      team,
      correlationKey: `of ${team}`,
      message: `${team} at ${at}`,
      receivedAt: at,
      timestamp: at,
    }),
  )

function write(calls: Store, documents: readonly EntryDocument[]): void {
  expect(calls.write(documents).map(({ outcome }) => outcome)).toEqual(documents.map(() => 'stored'))
  calls.mergeFlows(deltasOf(documents))
}

/** Expects that each Team reads its own documents by every call, and no others. */
function expectOwn(calls: Store, documents: readonly EntryDocument[]): void {
  for (const team of [...NAMES, 'unknown', '4', '8', '', '\0']) {
    const own = documents.filter((document) => document.team === team)
    const filter = entriesOf(team)
    expect(listed(calls, filter, 10, 'asc')).toEqual(own.map(({ source }) => source))
    expect(calls.tail(filter, '0', 100).entries.map(({ source }) => source)).toEqual(own.map(({ source }) => source))
    expect(calls.count(filter)).toBe(own.length)
    expect(calls.histogram(filter, 10)?.buckets.reduce((sum, { total }) => sum + total, 0) ?? 0).toBe(own.length)
    const flows = calls.searchFlows(flowsOf(team), { limit: 10, sort: 'latest', after: null }).flows
    expect(flows.map(({ correlationKey }) => correlationKey)).toEqual(own.length === 0 ? [] : [`of ${team}`])
    expect(calls.flow(team, `of ${team}`)?.groups.map(({ count }) => count)).toEqual(
      own.length === 0 ? undefined : [own.length],
    )
    for (const { id, kind, source } of documents.slice(0, 20))
      expect(calls.get(team, kind, id)).toBe(own.some((document) => document.id === id) ? source : undefined)
  }
}

const [EARLIER, LATER] = ['2026-02-01T10:00:00.000Z', '2026-02-02T10:00:00.000Z']

describe('Teams', () => {
  test('read their own entries and flows, and have short keys', () => {
    const { calls, close } = openStore({ file })
    const documents = [...documentsOf(NAMES, EARLIER), ...documentsOf(NAMES, LATER)]
    write(calls, documents)
    expectOwn(calls, documents)
    while (calls.countMore());
    expectOwn(calls, documents)
    close()
    const keys = inFile(file, (database) => database.prepare('SELECT DISTINCT team FROM entries').all())
    expect(keys.map(({ team }) => team)).toEqual(['1', '2', '3', '4', '5', '6', '7'])
  })

  test.each([
    ['1', toVersion1],
    ['7', toVersion7],
    ['8', toVersion8],
  ])('of a file of version %s keep their names as keys, beside those of others that come later', (_, toOlder) => {
    const old = openStore({ file })
    const first = documentsOf(NAMES.slice(0, 5), EARLIER)
    write(old.calls, first)
    while (old.calls.countMore());
    old.close()
    inFile(file, toOlder)
    const { calls, close } = openStore({ file })
    expectOwn(calls, first)
    const second = documentsOf(NAMES, LATER)
    write(calls, second)
    while (calls.countMore());
    expectOwn(calls, [...first, ...second])
    removeBefore(calls, '2026-02-02')
    expectOwn(calls, second)
    close()
  })

  test('of an older file with a damaged row open', () => {
    const old = openStore({ file })
    const documents = documentsOf(NAMES, EARLIER)
    write(old.calls, documents)
    old.close()
    inFile(file, toVersion8)
    damage(file, "UPDATE entries SET team = x'ff' WHERE arrival = 1")
    const { calls, close } = openStore({ file })
    expect(calls.count(entriesOf('payments'))).toBe(0)
    for (const team of NAMES.slice(1)) expect(calls.count(entriesOf(team))).toBe(1)
    close()
  })
})
