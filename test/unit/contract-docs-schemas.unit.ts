import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { appendMarks } from '../../consumers/dead-letter-replay.ts'
import { deadLetter, deadLetterRecord } from '../../consumers/dead-letters.ts'
import { SCHEMAS } from '../../deploy/docs/schemas.ts'
import { CLOUD_EVENTS } from '../../shared/contract/headers.ts'
import { parseTimestamp, timestampOf } from '../../shared/contract/timestamp.ts'
import type { AppendBatch, Journal } from '../../shared/journal/journal.ts'
import { applicationLog, eventLog, readRecord, recordHeaders } from '../support/consumers-records.ts'
import { problemsOf, publishedSchemas, schemaCompiler } from '../support/contract-docs.ts'

const compiled = schemaCompiler(publishedSchemas)
const propertyNames = (file: string): readonly string[] => Object.keys(publishedSchemas[file]?.['properties'] as object)

describe('the published schemas', () => {
  test('are no more than those of the code', () => {
    expect(Object.keys(publishedSchemas).toSorted()).toEqual(Object.keys(SCHEMAS).toSorted())
  })

  test.each(Object.keys(SCHEMAS))('%s has the $id that its name says', (file) => {
    expect(publishedSchemas[file]?.['$id']).toBe(`urn:sluice:schema:${file.replace('.json', '').replace('.v', ':v')}`)
  })

  test('have the ids that records name in ce_dataschema', () => {
    expect(publishedSchemas['event-log-record.v1.json']?.['$id']).toBe(CLOUD_EVENTS.event.dataSchema)
    expect(publishedSchemas['application-log-record.v1.json']?.['$id']).toBe(CLOUD_EVENTS.application.dataSchema)
  })

  test.each(Object.keys(SCHEMAS))('%s means the same to a validator of draft 2020-12', (file) => {
    const { $schema, definitions, ...schema } = JSON.parse(
      JSON.stringify(publishedSchemas[file]).replaceAll('#/definitions/', '#/$defs/'),
    )
    const ajv = new Ajv2020({ allowUnionTypes: true })
    ajv.addFormat('date-time', (text: string) => parseTimestamp(text) === text)
    const newer = ajv.compile(definitions === undefined ? schema : { ...schema, $defs: definitions })
    const older = compiled(String(schema.$id))
    for (const value of [eventLog(1), applicationLog(1), {}, null, { name: 'Payments' }, headersOf('order-1', null)]) {
      expect(newer(value)).toBe(older(value))
    }
  })

  test('use only regular expressions that every language knows: no look-around, no \\p{…}', () => {
    const patterns = [...JSON.stringify(publishedSchemas).matchAll(/"pattern":"((?:[^"\\]|\\.)*)"/g)].map(
      ([, text]) => text,
    )
    expect(patterns.length).toBeGreaterThan(5)
    expect(patterns.filter((text) => /\(\?|\\p/i.test(text ?? ''))).toEqual([])
  })
})

function headersOf(key: string | null, originalKey: string | null) {
  const { id, timestamp } = eventLog(1)
  return recordHeaders({
    kind: 'event',
    id,
    subject: 'order-placed',
    time: timestamp,
    key,
    originalKey,
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  })
}

describe('the headers', () => {
  test('of an entry are all named by their schema', () => {
    const sent = new Set(Object.keys({ ...headersOf('order-1', null), ...headersOf(null, 'order-1') }))
    expect(sent).toEqual(new Set(propertyNames('event-log-headers.v1.json')))
    expect(propertyNames('application-log-headers.v1.json')).toEqual(propertyNames('event-log-headers.v1.json'))
  })

  test('of a dead letter are all named by their schema and valid', () => {
    const record = readRecord('nonsense', { partition: 7, offset: 1042 })
    const { headers } = deadLetterRecord(record, deadLetter('invalid_json', 'the value is not JSON'), {
      projection: 'event-logs',
      group: 'sluice.event-logs.v1',
      time: timestampOf(0),
    })
    expect(Object.keys(headers).toSorted()).toEqual(propertyNames('dead-letter-headers.v1.json').toSorted())
    expect(problemsOf(compiled('urn:sluice:schema:dead-letter-headers:v1'), headers)).toEqual([])
  })

  test('of a replay mark are all named by their schema and valid', async () => {
    const batches: AppendBatch[] = []
    const journal = { append: async (batch: AppendBatch) => void batches.push(batch) } as unknown as Journal
    await appendMarks(journal, 'sluice.dead-letters.v1', new Map([[0, 1043]]))
    const headers = batches[0]?.records[0]?.headers ?? {}
    expect(Object.keys(headers).toSorted()).toEqual(propertyNames('replay-mark-headers.v1.json').toSorted())
    expect(problemsOf(compiled('urn:sluice:schema:replay-mark-headers:v1'), headers)).toEqual([])
  })
})
