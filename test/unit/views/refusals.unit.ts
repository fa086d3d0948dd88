import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeRefusal, type NotedRefusal, type RefusalRecord } from '../../../shared/contract/refusals.ts'
import { TOPICS } from '../../../shared/contract/topics.ts'
import type { Follower } from '../../../shared/journal/journal.ts'
import { createLogger } from '../../../shared/runtime/logger.ts'
import { refusedCounts } from '../../../views/refusals/items.ts'
import { createRefusalRing, createRefusalsFollower, RING_LIMITS } from '../../../views/refusals/ring.ts'
import { eventually } from '../../support/eventually.ts'
import { createMemoryJournal } from '../../support/memory-journal.ts'
import { KEY_B, NOW, PROJECT, startViews, type ViewsFixture } from '../../support/views-fixture.ts'

const TOPIC = 'sluice.refusals.v1'

const refusal = (fields: Partial<NotedRefusal> = {}): NotedRefusal => ({
  kind: 'refusal',
  team: 'a',
  at: new Date(NOW).toISOString(),
  endpoint: '/api/ExternalLogs',
  code: 'missing_payload',
  message: 'no',
  details: null,
  index: null,
  identifier: 'order',
  keyPrefix: 'sl_abc',
  userAgent: null,
  body: '{}',
  bodyCut: false,
  ...fields,
})

const unnoted = (counts: Record<string, number>, team = 'a'): RefusalRecord => ({
  kind: 'unnoted',
  team,
  at: new Date(NOW).toISOString(),
  counts,
})

let offset = 0
const asRead = (...records: RefusalRecord[]) =>
  records.map((record) => ({ offset: offset++, value: Buffer.from(encodeRefusal(record).value as string) }))

describe('the ring of refusals', () => {
  let time = NOW
  const ring = (limits = {}) => createRefusalRing(() => time, { ...RING_LIMITS, ...limits })
  beforeEach(() => {
    time = NOW
  })

  test('gives each Team its own, the last one first', () => {
    const { fold, of } = ring()
    fold(asRead(refusal({ message: 'one' }), refusal({ team: 'b' }), refusal({ message: 'two' })))
    expect(of('a').map(({ noted }) => noted.message)).toEqual(['two', 'one'])
    expect(of('b')).toHaveLength(1)
    expect(of('c')).toEqual([])
  })

  test('counts what was not noted with the last one of the same code', () => {
    const { fold, of } = ring()
    fold(asRead(refusal(), refusal({ code: 'invalid_api_key' }), unnoted({ missing_payload: 7, invalid_api_key: 1 })))
    fold(asRead(unnoted({ missing_payload: 3, never_seen: 9 }), unnoted({ missing_payload: 5 }, 'b'), refusal()))
    expect(of('a').map((kept) => [kept.noted.code, kept.unnoted])).toEqual([
      ['missing_payload', 0],
      ['invalid_api_key', 1],
      ['missing_payload', 10],
    ])
  })

  test('keeps so many of a Team, and the code that has most gives up its oldest', () => {
    const { fold, of } = ring({ perTeamMax: 5 })
    fold(asRead(refusal({ code: 'invalid_api_key', message: 'rare' })))
    for (let n = 0; n < 1_000; n += 1) fold(asRead(refusal({ message: `${n}` })))
    expect(of('a').map(({ noted }) => noted.message)).toEqual(['999', '998', '997', '996', 'rare'])
  })

  test('keeps so many bytes over all Teams', () => {
    const { fold, of } = ring({ bytesMax: 50_000 })
    for (let n = 0; n < 100; n += 1) fold(asRead(refusal({ team: `t${n}`, body: 'x'.repeat(8_000) })))
    const kept = Array.from({ length: 100 }, (_, n) => of(`t${n}`).length)
    expect(kept.slice(0, 94)).toEqual(Array(94).fill(0))
    expect(kept.slice(95)).toEqual(Array(5).fill(1))
  })

  test('shows nothing older than a day', () => {
    const { fold, of } = ring()
    fold(asRead(refusal({ message: 'old' })))
    time += 1_000
    fold(asRead(refusal({ message: 'young', at: new Date(time).toISOString() })))
    time = NOW + 86_400_001
    expect(of('a').map(({ noted }) => noted.message)).toEqual(['young'])
  })

  test('shows nothing older than a day behind one of a gateway whose clock is ahead', () => {
    const { fold, of } = ring()
    const ahead = new Date(NOW + 3_600_000).toISOString()
    fold(asRead(refusal({ message: 'ahead', at: ahead }), refusal({ message: 'old' })))
    time = NOW + 86_400_001
    expect(of('a').map(({ noted }) => noted.message)).toEqual(['ahead'])
  })

  test('passes over what it cannot read', () => {
    const { fold, of } = ring()
    fold([
      { offset: 1, value: null },
      { offset: 2, value: Buffer.from('{') },
      { offset: 3, value: Buffer.from('{"kind":"refusal","team":"a"}') },
      { offset: 4, value: Buffer.from('{"kind":"later","team":"a"}') },
      { offset: 5, value: Buffer.from('[1]') },
      ...asRead(refusal()),
    ])
    expect(of('a')).toHaveLength(1)
  })
})

describe('the follower of refusals', () => {
  const clock = { now: () => NOW }
  const logger = createLogger('silent', 'test')

  test('reads what was noted before it, and what is noted from then on', async () => {
    const journal = createMemoryJournal({ clock, topics: [{ ...TOPICS.refusals, name: TOPIC }] })
    const append = (record: RefusalRecord) =>
      journal.append({ topic: TOPIC, partition: 0, records: [encodeRefusal(record)] })
    await append(refusal({ message: 'before' }))
    const follower = createRefusalsFollower({ journal, topic: TOPIC, clock, logger })
    expect(follower.of('a')).toBeUndefined()
    await follower.start()
    await eventually(() => follower.of('a')?.length === 1)
    await append(refusal({ message: 'after' }))
    await eventually(() => follower.of('a')?.[0]?.noted.message === 'after')
    expect(follower.of('a')?.map(({ id }) => id)).toEqual(['1', '0'])
    await follower.stop(NOW + 5_000)
    await follower.stop(NOW + 5_000)
  })

  test('lets a process start without its topic, and begins when there is one', async () => {
    const journal = createMemoryJournal({ clock })
    const follower = createRefusalsFollower({ journal, topic: TOPIC, clock, logger, retryMs: 5 })
    await follower.start()
    expect(follower.of('a')).toBeUndefined()
    await journal.createTopics([{ ...TOPICS.refusals, name: TOPIC }])
    await eventually(() => follower.of('a')?.length === 0)
    await follower.stop(NOW + 5_000)
  })

  test('stops while it waits for its topic, and without a start', async () => {
    const journal = createMemoryJournal({ clock })
    const waiting = createRefusalsFollower({ journal, topic: TOPIC, clock, logger, retryMs: 60_000 })
    await waiting.start()
    await waiting.stop(NOW + 5_000)
    await createRefusalsFollower({ journal, topic: TOPIC, clock, logger }).stop(NOW + 5_000)
  })

  test('stops while its topic is being read, and ends that reading when it can', async () => {
    const { promise: read, resolve } = Promise.withResolvers<Follower>()
    const follower = createRefusalsFollower({ journal: { follow: () => read }, topic: TOPIC, clock, logger })
    await follower.start()
    await follower.stop(NOW + 60_000)
    const closed = Promise.withResolvers<void>()
    resolve({ outdated: new Promise(() => undefined), close: async () => closed.resolve() })
    await closed.promise
  })
})

describe('the counts of refusals', () => {
  const counted = (...records: RefusalRecord[]) => {
    const ring = createRefusalRing(() => NOW)
    ring.fold(asRead(...records))
    return refusedCounts(ring, 'a')
  }

  test('tell a client from another, and count what was not noted', () => {
    const go = { userAgent: 'go', code: 'invalid_level' }
    const counts = counted(refusal({ userAgent: 'java' }), refusal(go), refusal(go), unnoted({ invalid_level: 7 }))
    expect(counts?.map(({ userAgent, code, count }) => [userAgent, code, count])).toEqual([
      ['go', 'invalid_level', 9],
      ['java', 'missing_payload', 1],
    ])
    expect(counts?.[0]).toMatchObject({ endpoint: '/api/ExternalLogs', keyPrefix: 'sl_abc' })
  })

  test('are of the last day, and as many as one can look through', () => {
    const at = new Date(NOW - 86_400_001).toISOString()
    expect(
      counted(refusal({ at }), ...Array.from({ length: 30 }, (_, n) => refusal({ userAgent: `c${n}` }))),
    ).toHaveLength(20)
  })

  test('are unknown until the refusals are read', () => {
    expect(refusedCounts({ of: () => undefined }, 'a')).toBeNull()
  })
})

describe('GET /api/refusals', () => {
  interface Item {
    readonly id: string
    readonly code: string
    readonly nearest: unknown
    readonly curl: string | null
  }
  const ring = createRefusalRing(() => NOW)
  ring.fold(
    asRead(
      refusal({ code: 'entity_not_found', identifier: 'odrer.pay' }),
      refusal({ code: 'entity_not_found', identifier: 'secrt' }),
      refusal({ code: 'project_not_found', identifier: PROJECT.replace('3f25', '3f26') }),
      refusal({ message: 'last' }),
      unnoted({ missing_payload: 4 }),
      refusal({ team: 'b', message: 'of b' }),
    ),
  )
  let views: ViewsFixture
  beforeEach(async () => {
    views = await startViews({ refusals: ring })
  })
  afterEach(() => views.close())
  const items = async (query = '') => (await views.get<{ items: Item[] }>(`/api/refusals${query}`)).data.items

  test("gives the Team's own, with the nearest of its own identifiers, and nothing of another Team", async () => {
    expect(await items()).toMatchObject([
      { code: 'missing_payload', message: 'last', unnoted: 4, nearest: null },
      { code: 'project_not_found', nearest: { identifier: PROJECT, name: 'Checkout' } },
      { code: 'entity_not_found', identifier: 'secrt', nearest: null },
      { code: 'entity_not_found', nearest: { identifier: 'order.pay', name: 'Pay' } },
    ])
    const { text } = await views.get('/api/refusals')
    expect(text).not.toContain('of b')
    expect(text).not.toContain('"team"')
    const other = await views.get<{ items: Item[] }>('/api/refusals', { 'x-api-key': KEY_B })
    expect(other.data.items).toHaveLength(1)
  })

  test('does not suggest what is archived', async () => {
    const entity = views.entities.get('order.pay')
    if (entity !== undefined) views.entities.set('order.pay', { ...entity, archivedAt: '2026-01-01T00:00:00.000Z' })
    expect((await items('?code=entity_not_found'))[1]).toMatchObject({ nearest: null })
  })

  test('takes a code and a limit, and refuses others', async () => {
    expect((await items('?code=entity_not_found')).map(({ code }) => code)).toEqual(Array(2).fill('entity_not_found'))
    expect(await items('?limit=1')).toHaveLength(1)
    const { status, error } = await views.get('/api/refusals?code=nonsense')
    expect([status, error.code, error.details[0]?.path]).toEqual([400, 'invalid_request', 'code'])
  })

  test.each<[string, string, number]>([
    ['control characters', '\x01'.repeat(8_192), 11],
    ['quotation marks', "'".repeat(8_192), 11],
    ['JSON with a line for each value', JSON.stringify(Array(800).fill('it is'), null, 1).slice(0, 8_000), 200],
    ['JSON', JSON.stringify({ text: "it's".repeat(100) }), 200],
  ])('of many bodies of %s the commands are bounded', async (_what, body, commands) => {
    const many = createRefusalRing(() => NOW)
    many.fold(asRead(...Array.from({ length: 200 }, () => refusal({ body }))))
    const other = await startViews({ refusals: many })
    const { data } = await other.get<{ items: Item[] }>('/api/refusals?limit=200')
    await other.close()
    expect([data.items.length, data.items.filter(({ curl }) => curl !== null).length]).toEqual([200, commands])
  })

  test('needs a key', async () => {
    expect((await views.get('/api/refusals', {})).status).toBe(401)
  })
})
