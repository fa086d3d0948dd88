import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { AUDITED_VALUE_BYTES_MAX, type AuditedChange, type AuditOrigin } from '../../../../shared/contract/audit.ts'
import { createAudit } from '../../../../shared/journal/audit.ts'
import { AppendError } from '../../../../shared/journal/journal.ts'
import { problemsOf, publishedSchemas, schemaCompiler } from '../../../support/contract-docs.ts'
import { AUDIT_TOPIC, NOW, registryOnMemory, toldBy } from '../../../support/registry-topic.ts'

const ORIGIN: AuditOrigin = {
  actor: { kind: 'team', id: 'payments', key: 'sl_x7Q' },
  via: 'PATCH /api/team/events/:id',
  from: '203.0.113.7',
}
const change = (fields: Partial<AuditedChange> = {}): AuditedChange => ({
  team: 'payments',
  action: 'changed',
  subject: { kind: 'event', id: 'order-placed' },
  before: { name: 'Old' },
  after: { name: 'New' },
  ...fields,
})

function setUp() {
  const { journal, clock } = registryOnMemory()
  const failures: string[] = []
  const audit = createAudit({
    journal,
    topic: AUDIT_TOPIC,
    clock,
    onFailure: (_error, record) => failures.push(record),
  })
  const values = () => journal.recordsOf(AUDIT_TOPIC).map(({ value }) => JSON.parse(String(value)))
  return { journal, failures, values, audited: audit(ORIGIN), told: () => toldBy(journal) }
}

describe('a change', () => {
  test('is announced before it is made, and its outcome is told after, as the schema has both', async () => {
    const { audited, values, journal, told } = setUp()
    const made = await audited([change()], async () => {
      expect(values().map(({ outcome }) => outcome)).toEqual(['pending'])
      expect((await told()).map(({ outcome }) => outcome)).toEqual(['pending'])
      return 'made'
    })
    expect(made).toBe('made')
    expect(await told()).toEqual([
      { id: expect.any(String), index: 0, at: NOW, ...ORIGIN, ...change(), outcome: 'success' },
    ])
    const validate = schemaCompiler(publishedSchemas)
    for (const [place, definition] of ['change', 'outcome'].entries()) {
      const schema = validate(`urn:sluice:schema:audit-record:v1#/definitions/${definition}`)
      expect(problemsOf(schema, values()[place])).toEqual([])
    }
    expect(journal.recordsOf(AUDIT_TOPIC).map(({ key }) => key?.toString())).toEqual(['payments', undefined])
  })

  test.each(['not_written', 'unknown'] as const)('is not made where its record was %s', async (outcome) => {
    const { audited, journal, failures } = setUp()
    journal.failAppends(outcome)
    let isMade = false
    const making = audited([change()], async () => {
      isMade = true
    })
    await expect(making).rejects.toMatchObject({ name: 'AppendError', outcome: 'not_written' })
    await expect(making).rejects.toThrow(/^its audit record was not confirmed: /)
    expect({ isMade, failures }).toEqual({ isMade: false, failures: ['change'] })
  })

  test.each([
    ['failure', new AppendError('disk full', 'not_written'), false],
    ['unknown', new AppendError('disk full', 'not_written'), true],
    ['unknown', new AppendError('timed out', 'unknown'), false],
    ['unknown', new Error('something else'), false],
  ] as const)('that fails has the outcome %s after %s, in parts: %s', async (outcome, error, inParts) => {
    const { audited, told } = setUp()
    await expect(audited([change()], () => Promise.reject(error), { inParts })).rejects.toBe(error)
    expect(await told()).toMatchObject([{ outcome }])
  })

  test('whose outcome cannot be told stays made, and pending', async () => {
    const { audited, journal, failures, told } = setUp()
    const made = audited([change()], async () => {
      journal.failAppends('not_written')
      return 'made'
    })
    expect(await made).toBe('made')
    expect(failures).toEqual(['outcome'])
    expect(await told()).toMatchObject([{ outcome: 'pending' }])
  })

  test('is told once where the journal has its record twice, and others of its append beside it', async () => {
    const { audited, journal, told } = setUp()
    await audited([change(), change()], async () => {
      const records = journal.recordsOf(AUDIT_TOPIC)
      await journal.append({ topic: AUDIT_TOPIC, partition: 0, records })
    })
    expect((await told()).map(({ index, outcome }) => [index, outcome])).toEqual([
      [0, 'success'],
      [1, 'success'],
    ])
  })
})

describe('a hostile value', () => {
  test('is cut, whatever it holds: the record stays small', async () => {
    const { audited, told, journal } = setUp()
    const params = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`parameter-${n}`, '\u{1f600}'.repeat(256)]))
    const foreign = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`member-${n}`, n]))
    const id = 'i'.repeat(100_000)
    await audited([change({ before: { params }, after: foreign, subject: { kind: 'search', id } })], async () => {})
    const [{ before, after, subject } = change()] = await told()
    expect(Buffer.byteLength(JSON.stringify(before))).toBeLessThanOrEqual(AUDITED_VALUE_BYTES_MAX)
    expect(before).toMatchObject({ params: { 'parameter-20': expect.stringMatching(/^(\u{1f600})+…$/u) } })
    expect(after).toEqual({ cut: true })
    expect(subject.id.length).toBeLessThan(1_100)
    expect(Math.max(...journal.recordsOf(AUDIT_TOPIC).map(({ value }) => value?.length ?? 0))).toBeLessThan(8_192)
  })

  test('is cut no shorter than has to be', async () => {
    const { audited, told } = setUp()
    await audited([change({ before: { name: 'n'.repeat(200) }, after: { name: 'n'.repeat(201) } })], async () => {})
    expect(await told()).toMatchObject([{ before: { name: 'n'.repeat(200) }, after: { name: `${'n'.repeat(200)}…` } }])
  })
})

describe('the reader', () => {
  test('leaves out what the program cannot have written', async () => {
    const { audited, journal, told } = setUp()
    const texts = [
      '{',
      'null',
      '[]',
      '{"id":1}',
      '{"id":"1","at":"now","outcome":"great"}',
      '{"id":"1","at":"now","outcome":"pending"}',
      JSON.stringify({ id: randomUUID(), index: 0, at: NOW, outcome: 'pending' }),
      JSON.stringify({ id: randomUUID(), index: 0, at: 'now', outcome: 'pending', ...ORIGIN, ...change() }),
    ]
    const records = texts.map((value) => ({ key: null, value, headers: {} }))
    await journal.append({
      topic: AUDIT_TOPIC,
      partition: 0,
      records: [...records, { key: null, value: null, headers: {} }],
    })
    await audited([change()], async () => {})
    expect(await told()).toHaveLength(1)
  })

  test('remembers a bounded number of changes without an outcome: the oldest are told as they are', async () => {
    const { journal, told } = setUp()
    const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
    const pending = Array.from({ length: 10_001 }, (_, n) =>
      JSON.stringify({ id: idOf(n), index: 0, at: NOW, outcome: 'pending', ...ORIGIN, ...change() }),
    )
    const values = [...pending, ...[0, 1].map((n) => JSON.stringify({ id: idOf(n), at: NOW, outcome: 'success' }))]
    const records = values.map((value) => ({ key: null, value, headers: {} }))
    await journal.append({ topic: AUDIT_TOPIC, partition: 0, records })
    const changes = await told()
    expect(changes.slice(0, 2)).toMatchObject([
      { id: idOf(0), outcome: 'pending' },
      { id: idOf(1), outcome: 'success' },
    ])
    expect(changes).toHaveLength(10_001)
  })
})
