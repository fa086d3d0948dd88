import { describe, expect, test } from 'vitest'
import { RECORD_BYTES_MAX } from '../../../consumers/decode.ts'
import { type ProjectionName, projector } from '../../../consumers/projection.ts'
import type { NewRecord } from '../../../shared/journal/journal.ts'
import {
  APPLICATION_TOPIC,
  applicationLog,
  EVENT_TOPIC,
  eventLog,
  idOf,
  published,
  readRecord,
} from '../../support/consumers-records.ts'
import { createConsumersRig, soon } from '../../support/consumers-rig.ts'
import * as fc from '../../support/fast-check.ts'

const bad = (value: string | Uint8Array | null): NewRecord => ({ key: null, value, headers: {} })

const POISON: Readonly<Record<string, string | Uint8Array | null>> = {
  'null value': null,
  'empty value': '',
  'not UTF-8': Buffer.from([0xc3, 0x28]),
  'not JSON': '<entry/>',
  'cut off': JSON.stringify(eventLog(1)).slice(0, 40),
  'no object': '"text"',
  'no fields': '{}',
  'unknown kind': JSON.stringify({ ...eventLog(1), kind: 'trace' }),
  'wrong types': JSON.stringify({ ...eventLog(1), payload: { a: 1 } }),
  'missing fields': JSON.stringify({ ...eventLog(1), team: undefined }),
  prototype: `{"__proto__":${JSON.stringify(eventLog(1))}}`,
  'deep nesting': `{"kind":"event","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
  huge: Buffer.alloc(RECORD_BYTES_MAX + 1, 0x20),
}

describe('a bad record becomes a dead letter and the others of its batch are stored', () => {
  test.each(Object.keys(POISON))('%s', async (kind) => {
    // A compacted topic takes null as a foreign producer might send it.
    const rig = createConsumersRig({ partitions: 1, cleanup: 'compact' })
    await rig.append(EVENT_TOPIC, [published(eventLog(1)), bad(POISON[kind] ?? null), published(eventLog(2))])
    const consumers = (['event-logs', 'flows'] as const).map((projection) => rig.consumer(projection))
    await Promise.all(consumers.map((consumer) => consumer.start()))
    await Promise.all([rig.caughtUp('event-logs'), rig.caughtUp('flows')])
    expect([...rig.store.documents.keys()]).toEqual([idOf(1), idOf(2)])
    expect(rig.store.flows()).toHaveLength(1)
    expect(rig.deadLetters()).toHaveLength(2)
    expect(rig.deadLetters()[0]?.value?.equals(Buffer.from(POISON[kind] ?? ''))).toBe(true)
    await Promise.all(consumers.map((consumer) => consumer.stop(soon())))
  })

  test('a document that the store refuses', async () => {
    const rig = createConsumersRig({ partitions: 1 })
    rig.store.refuse = ({ id }) => (id === idOf(2) ? 'mapper_parsing_exception' : undefined)
    await rig.publish([eventLog(1), eventLog(2), eventLog(3)])
    const consumer = rig.consumer('event-logs')
    await consumer.start()
    await rig.caughtUp('event-logs')
    expect([...rig.store.documents.keys()]).toEqual([idOf(1), idOf(3)])
    expect(rig.deadLetters()[0]?.headers).toMatchObject({
      '__connect.errors.stage': 'TASK_PUT',
      '__connect.errors.exception.class.name': 'refused_by_store',
      '__connect.errors.exception.message': 'mapper_parsing_exception',
    })
    expect(await rig.metric('sluice_consumer_dead_letters_total', { reason: 'refused_by_store' })).toBe(1)
    await consumer.stop(soon())
  })
})

test('a projection that fails on a record makes a dead letter that tells the class of the error alone', () => {
  const project = projector(
    () => ({ outcome: 'decoded', entry: eventLog(1, { payload: 'hunter2' }), source: '' }),
    ({ payload }) => {
      if (payload === 'hunter2') throw new RangeError(`too much of ${payload}`)
      return payload
    },
  )
  expect(project(readRecord('{}'))).toEqual({
    outcome: 'deadLetter',
    reason: 'projection_failed',
    message: 'the record cannot be projected: RangeError',
  })
})

test('whatever stands on the topics, each record has exactly one outcome', async () => {
  const entry = fc.oneof(
    fc.nat(20).map((id) => eventLog(id)),
    fc.nat(20).map((id) => applicationLog(id)),
  )
  const field = fc.constantFrom(...Object.keys(eventLog(0)), ...Object.keys(applicationLog(0)), '__proto__')
  const record = fc.oneof(
    entry.map(published),
    fc
      .tuple(entry, field, fc.jsonValue())
      .map(([base, name, value]) => bad(JSON.stringify({ ...base, [name]: value }))),
    fc.json().map(bad),
    fc.uint8Array({ maxLength: 60 }).map(bad),
    fc.constant(bad(null)),
  )
  const projections: readonly ProjectionName[] = ['event-logs', 'application-logs', 'flows']
  await fc.assert(
    fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 30 }), async (records) => {
      const rig = createConsumersRig({ partitions: 1, cleanup: 'compact' })
      for (const topic of [EVENT_TOPIC, APPLICATION_TOPIC]) await rig.append(topic, records)
      const consumers = projections.map((projection) => rig.consumer(projection))
      await Promise.all(consumers.map((consumer) => consumer.start()))
      await Promise.all(projections.map((projection) => rig.caughtUp(projection)))
      await Promise.all(consumers.map((consumer) => consumer.stop(soon())))
      const total = (outcome?: string): Promise<number> =>
        rig.metric('sluice_consumer_records_total', outcome === undefined ? {} : { outcome })
      expect(await total()).toBe(records.length * 4)
      expect(rig.deadLetters()).toHaveLength(await total('dead_letter'))
      for (const document of rig.store.documents.values()) expect(JSON.parse(document.source)).toHaveProperty('id')
    }),
    { numRuns: 60 },
  )
})
