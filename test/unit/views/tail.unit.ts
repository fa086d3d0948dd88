import { type IncomingMessage, request } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ROW_TEXT_CHARACTERS_MAX } from '../../../shared/contract/rows.ts'
import { TEAM_READS_MAX } from '../../../views/api/read-gate.ts'
import { eventually } from '../../support/eventually.ts'
import {
  applicationLog,
  at,
  eventLog,
  KEY_A,
  KEY_B,
  openTail,
  type SseEvent,
  type SseReader,
  startViews,
  type ViewsFixture,
} from '../../support/views-fixture.ts'

const BASE = { pollMs: 5, heartbeatMs: 15_000 }

let views: ViewsFixture
let tails: SseReader[]
beforeEach(async () => {
  views = await startViews()
  tails = []
})
afterEach(async () => {
  for (const tail of tails) tail.close()
  await views.close()
})

const open = async (path: string, headers: Record<string, string> = {}): Promise<SseReader> => {
  const tail = await openTail(views.url + path, headers)
  tails.push(tail)
  return tail
}
/** A tail that has named its place, and so sees all that is added from here on. */
const openAtEnd = async (path: string): Promise<SseReader> => {
  const tail = await open(path)
  await eventually(() => tail.blocks.length > 0)
  return tail
}
const payloads = (tail: SseReader): (string | undefined)[] => tail.of('entry').map(({ data }) => data?.payload)
const openTails = async (): Promise<number> =>
  (await views.metrics.gauge('sluice_tail_streams').get()).values[0]?.value ?? 0

describe('a tail', () => {
  test('is an event stream that no proxy should hold back', async () => {
    const tail = await open('/api/event-logs/tail')
    expect(tail.status).toBe(200)
    expect(tail.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(tail.headers.get('cache-control')).toBe('no-store, no-transform')
    expect(tail.headers.get('x-accel-buffering')).toBe('no')
    expect(tail.headers.get('content-encoding')).toBeNull()
  })

  test('starts at the present end and sends items as the list has them, in the order of arrival', async () => {
    views.store.add(eventLog({ payload: 'before' }))
    const tail = await openAtEnd('/api/event-logs/tail')
    views.store.add(eventLog({ timestamp: at(9), payload: 'first' }), eventLog({ timestamp: at(1), payload: 'second' }))
    await eventually(() => tail.of('entry').length === 2)
    expect(payloads(tail)).toEqual(['first', 'second'])
    const { data } = await views.get<{ items: object[] }>('/api/event-logs?limit=1')
    expect(tail.of('entry')[0]?.data).toEqual(data.items[0])
    expect(tail.of('entry')[0]?.id).toMatch(/^[\w-]+$/)
  })

  test('keeps to one line an item with line breaks in it', async () => {
    const tail = await openAtEnd('/api/event-logs/tail')
    views.store.add(eventLog({ payload: 'a\n\nid: 1\r\n\r\ndata: x\u2028' }), eventLog({ payload: 'next' }))
    await eventually(() => tail.of('entry').length === 2)
    expect(payloads(tail)).toEqual(['a\n\nid: 1\r\n\r\ndata: x\u2028', 'next'])
  })

  test('shows what its parameters select', async () => {
    const tail = await openAtEnd('/api/event-logs/tail?level=error&q=pay')
    views.store.add(
      eventLog({ payload: 'pay', level: 'Warning' }),
      eventLog({ payload: 'ship', level: 'Error' }),
      applicationLog({ message: 'pay', level: 'Error' }),
      eventLog({ payload: 'pay now', level: 'Error' }),
    )
    await eventually(() => tail.of('entry').length > 0)
    expect(payloads(tail)).toEqual(['pay now'])
  })

  test('of a flow has both kinds, and may begin before the flow does', async () => {
    const tail = await openAtEnd(`/api/flows/${encodeURIComponent('a/b')}/tail`)
    views.store.add(
      eventLog({ correlationKey: 'other' }),
      eventLog({ correlationKey: 'a/b', payload: 'event' }),
      applicationLog({ correlationKey: 'a/b', message: 'application' }),
    )
    await eventually(() => tail.of('entry').length === 2)
    expect(tail.of('entry').map(({ data }) => data?.payload ?? data?.message)).toEqual(['event', 'application'])
  })

  test('holds no page while it waits for the next', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const pages: WeakRef<object>[] = []
    const held: number[] = []
    const { tail } = views.store
    views.store.tail = async (...args) => {
      // A new reference holds its object until the end of the turn.
      await nextTurn()
      collect()
      held.push(pages.filter((page) => page.deref() !== undefined).length)
      const page = await tail(...args)
      const entry = { ...eventLog() }
      pages.push(new WeakRef(entry))
      return { ...page, entries: [{ entry, cursor: page.cursor }] }
    }
    await open('/api/event-logs/tail')
    await eventually(() => held.length >= 5)
    expect(held.slice(0, 5)).toEqual([0, 0, 0, 0, 0])
  })

  test('breaks a silence with a comment, and moves the place to resume from', async () => {
    await views.close()
    views = await startViews({ tail: { ...BASE, heartbeatMs: 20 } })
    const tail = await openAtEnd('/api/event-logs/tail?q=nothing')
    views.store.add(eventLog({ payload: 'unmatched' }))
    const moved = (): SseEvent | undefined =>
      tail.blocks.findLast((block) => block.comment === 'still here' && block.id !== tail.blocks[0]?.id)
    await eventually(() => moved() !== undefined)
    expect(moved()).toMatchObject({ event: undefined, id: expect.stringMatching(/./) })
  })
})

describe('resuming', () => {
  test('goes on after the id given, by header or parameter, and misses and repeats nothing', async () => {
    const first = await openAtEnd('/api/event-logs/tail')
    views.store.add(...['1', '2', '3'].map((payload) => eventLog({ payload })))
    await eventually(() => first.of('entry').length === 3)
    first.close()
    const id = first.of('entry')[0]?.id ?? ''
    views.store.add(eventLog({ payload: '4' }))

    const byHeader = await open('/api/event-logs/tail', { 'last-event-id': id })
    const byParameter = await open(`/api/event-logs/tail?lastEventId=${id}`)
    await eventually(() => byHeader.of('entry').length === 3 && byParameter.of('entry').length === 3)
    expect(payloads(byHeader)).toEqual(['2', '3', '4'])
    expect(payloads(byParameter)).toEqual(['2', '3', '4'])
  })

  test('believes the header where both are sent, as a reconnecting EventSource repeats its address', async () => {
    const first = await openAtEnd('/api/event-logs/tail')
    views.store.add(...['1', '2', '3'].map((payload) => eventLog({ payload })))
    await eventually(() => first.of('entry').length === 3)
    const [old, , last] = first.of('entry')
    const tail = await open(`/api/event-logs/tail?lastEventId=${old?.id}`, { 'last-event-id': last?.id ?? '' })
    views.store.add(eventLog({ payload: '4' }))
    await eventually(() => tail.of('entry').length > 0)
    expect(payloads(tail)).toEqual(['4'])
  })

  test('has a place before the first entry, so that a stream that breaks early misses none', async () => {
    const first = await openAtEnd('/api/event-logs/tail')
    first.close()
    views.store.add(eventLog({ payload: 'between' }))
    const tail = await open('/api/event-logs/tail', { 'last-event-id': first.blocks[0]?.id ?? '' })
    await eventually(() => tail.of('entry').length > 0)
    expect(payloads(tail)).toEqual(['between'])
  })

  test('sends a long backlog whole to a reader that keeps up', async () => {
    const first = await openAtEnd('/api/event-logs/tail')
    views.store.add(...Array.from({ length: 1_050 }, (_, index) => eventLog({ payload: String(index) })))
    const tail = await open('/api/event-logs/tail', { 'last-event-id': first.blocks[0]?.id ?? '' })
    await eventually(() => tail.of('entry').length === 1_050)
    expect(payloads(tail)).toEqual(Array.from({ length: 1_050 }, (_, index) => String(index)))
    expect(tail.of('skipped')).toEqual([])
  })
})

describe('a reader that is too slow', () => {
  /** As long as a row's text can be. */
  const LARGE = 'x'.repeat(ROW_TEXT_CHARACTERS_MAX)
  const BACKLOG = 8_000
  let response: IncomingMessage
  let received: string

  beforeEach(async () => {
    await views.close()
    views = await startViews({ tail: { ...BASE, bufferedBytesMax: 100_000, patienceMs: 20 } })
    received = ''
    response = await new Promise((resolve, reject) => {
      const { port } = new URL(views.url)
      request({ port, path: '/api/event-logs/tail', headers: { 'x-api-key': KEY_A } }, resolve)
        .on('error', reject)
        .end()
    })
    response.setEncoding('utf8')
    await new Promise<void>((resolve) => {
      response.once('readable', () => resolve())
    })
    received += response.read()
  })
  afterEach(() => {
    response.destroy()
  })

  test('makes the server hold no more than the limit, and is told how many entries it missed', async () => {
    views.store.add(...Array.from({ length: BACKLOG }, () => eventLog({ payload: LARGE })))
    // Looks at the store that found it empty: the backlog, a hundred at a time, has been read and dealt with.
    const before = views.store.calls.length
    await eventually(() => views.store.calls.length > before + BACKLOG / 100 + 5)
    response.on('data', (chunk) => {
      received += chunk
    })
    await eventually(() => received.includes('event: skipped'))
    views.store.add(eventLog({ payload: 'caught up' }))
    await eventually(() => received.includes('caught up'))

    const sent = received.split('event: entry').length - 1 - 1
    const [, skipped = ''] = /event: skipped\ndata: (.*)/.exec(received) ?? []
    expect(sent).toBeGreaterThan(0)
    expect(JSON.parse(skipped)).toEqual({ count: BACKLOG - sent })
    // The buffers of the kernel and the client are beyond the server: 30 MB were due, and most of it was never written.
    expect(received.length).toBeLessThan(20_000_000)
  })
})

describe('open tails', () => {
  test('are counted, and end when the client goes', async () => {
    const tail = await openAtEnd('/api/event-logs/tail')
    expect(await openTails()).toBe(1)
    tail.close()
    await eventually(async () => (await openTails()) === 0)
    // A tail that went on would look again between these two.
    const looks = views.store.calls.length
    const other = await openAtEnd('/api/event-logs/tail?q=other')
    await eventually(() => views.store.calls.length >= looks + 10)
    expect(await openTails()).toBe(1)
    other.close()
  })

  test('are 50 a Team at most', async () => {
    await Promise.all(Array.from({ length: 50 }, () => openAtEnd('/api/event-logs/tail')))
    const refused = await views.get('/api/flows/k/tail')
    expect(refused).toMatchObject({ status: 503, error: { code: 'server_error', retryable: true } })
    expect(refused.error.message).toContain('50 tails')
    expect((await open('/api/event-logs/tail', { 'x-api-key': KEY_B })).status).toBe(200)
    tails[0]?.close()
    await eventually(async () => (await open('/api/event-logs/tail')).status === 200)
  })

  test('end on shutdown, and none begins after', async () => {
    const tail = await openAtEnd('/api/event-logs/tail')
    views.views.closeTails()
    await eventually(() => tail.ended)
    expect(await views.get('/api/event-logs/tail')).toMatchObject({ status: 503, error: { code: 'server_error' } })
    expect(await views.get('/api/event-logs')).toMatchObject({ status: 200 })
    expect(await openTails()).toBe(0)
  })

  test('end when their key is revoked', async () => {
    const tail = await openAtEnd('/api/event-logs/tail')
    views.keys.delete(KEY_A)
    await eventually(() => tail.ended)
    views.keys.set(KEY_A, 'a')
  })

  test('do not read with a key that was revoked while they waited for their turn', async () => {
    const [tail, other] = await Promise.all([
      openAtEnd('/api/event-logs/tail'),
      open('/api/event-logs/tail', { 'x-api-key': KEY_B }),
    ])
    const { search, tail: look } = views.store
    const turn = Promise.withResolvers<void>()
    let begun = 0
    views.store.search = async (...args) => {
      begun += 1
      await turn.promise
      return search(...args)
    }
    const looks: string[] = []
    views.store.tail = (...args) => {
      looks.push(args[0].team)
      return look(...args)
    }
    const lists = Array.from({ length: TEAM_READS_MAX }, () => views.get('/api/event-logs'))
    await eventually(() => begun === TEAM_READS_MAX)
    // By then the first tail waits, as both look equally often.
    const from = looks.length
    await eventually(() => looks.length >= from + 5)
    views.keys.delete(KEY_A)
    turn.resolve()
    await eventually(() => tail.ended)
    await Promise.all(lists)
    expect(looks.slice(from)).not.toContain('a')
    expect(other.ended).toBe(false)
    views.keys.set(KEY_A, 'a')
  })

  test('live through an outage of the store', async () => {
    await views.close()
    views = await startViews({ tail: { ...BASE, retryMs: 5 } })
    const tail = await openAtEnd('/api/event-logs/tail')
    views.store.failAfter(0)
    const before = views.store.calls.length
    await eventually(() => views.store.calls.length > before + 2)
    views.store.add(eventLog({ payload: 'during' }))
    views.store.failAfter(null)
    await eventually(() => tail.of('entry').length > 0)
    expect(payloads(tail)).toEqual(['during'])
    expect(tail.ended).toBe(false)
  })
})
