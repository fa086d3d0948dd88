import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { replayMark, summaryOf } from '../../consumers/dead-letter-replay.ts'
import { PROJECTIONS } from '../../consumers/projection.ts'
import { decodeAudit } from '../../shared/contract/audit.ts'
import { partitionOf } from '../../shared/contract/partitioner.ts'
import { TOPICS, type TopicRole } from '../../shared/contract/topics.ts'
import type { JournalRecord } from '../../shared/journal/journal.ts'
import { decodeRecord } from '../../shared/registry/records.ts'
import { readRecord } from '../support/consumers-records.ts'
import { type Json, problemsOf, publishedSchemas, readSchemas, schemaCompiler } from '../support/contract-docs.ts'
import { breaksBetween } from './compatibility-check.ts'

/**
 * `published` holds the schemas as they were released and records as version 1 wrote them. They are never edited to make a test pass: a
 * test that fails here says that a reader would fail too. After a release that added fields, copy docs/schemas there, so that those
 * fields are guarded from then on.
 */
const folder = join(import.meta.dirname, 'published')
const published = readSchemas(folder)

interface Sample {
  readonly what: string
  readonly topic: TopicRole
  readonly key: string | null
  /** The partition, of 12, of a keyed record; null for any. */
  readonly partition: number | null
  readonly headers: Readonly<Record<string, string>>
  readonly value: string | null
}

const samples = JSON.parse(readFileSync(join(folder, 'samples.json'), 'utf8')) as readonly Sample[]
const entries = samples.filter(({ topic }) => topic.endsWith('-logs'))

const asRead = ({ key, value, headers }: Sample): JournalRecord =>
  readRecord(value, { key: key === null ? null : Buffer.from(key), headers })

describe('the published schemas', () => {
  test('are all still there', () => {
    expect(Object.keys(publishedSchemas)).toEqual(expect.arrayContaining(Object.keys(published)))
    expect(Object.keys(published).length).toBeGreaterThan(0)
  })

  test.each(Object.entries(published))('%s is changed in no way that breaks a reader', (file, before) => {
    expect(breaksBetween(before, publishedSchemas[file] ?? {})).toEqual([])
  })
})

describe.each([
  ['as published', published],
  ['as they are', publishedSchemas],
])('a recorded entry of version 1 fits the schemas %s', (_which, schemas) => {
  const compiled = schemaCompiler(schemas)

  test.each(entries)('$what', ({ headers, value }) => {
    const id = String(headers['ce_dataschema'])
    expect(problemsOf(compiled(id), JSON.parse(value ?? ''))).toEqual([])
    expect(problemsOf(compiled(id.replace('-record:', '-headers:')), headers)).toEqual([])
  })
})

describe('a recorded entry of version 1', () => {
  const readers = Object.values(PROJECTIONS).flatMap(({ sources }) => sources)

  test.each(entries)('$what: is taken by every projection of its topic', (sample) => {
    const takers = readers.filter(({ role }) => role === sample.topic)
    expect(takers.length).toBe(2)
    for (const { project } of takers) expect(['ok', 'skip']).toContain(project(asRead(sample)).outcome)
  })

  test.each(entries.filter(({ key }) => key !== null))(
    '$what: would go to the same partition',
    ({ key, partition, topic }) => {
      expect(partitionOf(key ?? '', TOPICS[topic].partitions)).toBe(partition)
    },
  )

  test('shows every property of its schema, with each of its types', () => {
    const seen = new Set(entries.flatMap(({ value, topic }) => kindsIn(topic, JSON.parse(value ?? '') as Json)))
    const promised = (['event-log', 'application-log'] as const).flatMap((name) => {
      const properties = published[`${name}-record.v1.json`]?.['properties'] as Record<
        string,
        { type: string | string[] }
      >
      return Object.entries(properties).flatMap(([property, { type }]) =>
        [type].flat().map((each) => `${name}s ${property} ${each}`),
      )
    })
    expect(promised.filter((each) => !seen.has(each))).toEqual([])
  })
})

function kindsIn(topic: string, value: Json): readonly string[] {
  return Object.entries(value).map(([name, held]) => {
    const kind = held === null ? 'null' : Number.isInteger(held) ? 'integer' : typeof held
    return `${topic} ${name} ${kind}`
  })
}

describe('a recorded record of version 1', () => {
  test.each(samples.filter(({ topic }) => topic === 'registry'))('of the registry, $what: is read', (sample) => {
    expect(decodeRecord(asRead(sample))).toMatchObject({ record: { value: JSON.parse(sample.value ?? 'null') } })
    expect(decodeRecord(asRead(sample)).unreadable).toBeUndefined()
  })

  test.each(samples.filter(({ topic }) => topic === 'audit'))('of the audit, $what: is read', (sample) => {
    expect(decodeAudit(asRead(sample).value)).toEqual(JSON.parse(sample.value ?? ''))
  })

  const aside = samples.filter(({ topic }) => topic === 'dead-letters')
  test.each(aside)('of the dead letters, $what: is read', (sample) => {
    const known = summaryOf(asRead(sample)) ?? replayMark(asRead(sample))
    expect(known).toEqual(
      sample.what === 'a replay mark' ? 1043 : expect.objectContaining({ reason: 'invalid_record' }),
    )
  })

  test('is there for each topic that is a contract', () => {
    const roles = Object.values(TOPICS).flatMap(({ role, isInternal }) => (isInternal ? [] : [role]))
    expect(new Set(samples.map(({ topic }) => topic))).toEqual(new Set(roles))
  })
})
