import { type IncomingMessage, request } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ReadNotBegunError } from '../../../shared/log-store/log-store.ts'
import { PAGE_KEPT_MS } from '../../../views/api/export.ts'
import { eventually } from '../../support/eventually.ts'
import { applicationLog, at, eventLog, KEY_A, startViews, type ViewsFixture } from '../../support/views-fixture.ts'

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(async () => {
  vi.restoreAllMocks()
  await views.close()
})

/** Lets these time limits pass at once. */
function pass(...limits: number[]): void {
  const { timeout } = AbortSignal
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout.call(AbortSignal, limits.includes(ms) ? 20 : ms))
}

const many = (count: number, payload = '') =>
  Array.from({ length: count }, (_, index) => eventLog({ timestamp: at(index), payload: `${index}${payload}` }))

/** 40 MB in 20 pages, of which the sockets of a connection take some. Few long entries are stored several times quicker than many. */
const beyondSockets = () => many(2_500, 'x'.repeat(16_000))

/** Asks without reading the answer. */
const ask = (path: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(views.url)
    request({ port, path, headers: { 'x-api-key': KEY_A } }, resolve)
      .on('error', reject)
      .end()
  })

describe('an export', () => {
  test('of NDJSON has every match, one item a line, over more than one page', async () => {
    const entries = many(1_234)
    views.store.add(...entries)
    const { status, headers, text } = await views.get('/api/event-logs/export')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="event-logs-20260201T120000Z.ndjson"')
    expect(headers.get('cache-control')).toBe('no-store, no-transform')
    const lines = text.split('\n')
    expect(lines.pop()).toBe('')
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(entries.map((entry) => entry.id).toReversed())
    const { data } = await views.get<{ items: object[] }>('/api/event-logs?limit=1')
    expect(JSON.parse(lines[0] ?? '')).toEqual(data.items[0])
  })

  test('of CSV has a header row and a row a match', async () => {
    views.store.add(
      applicationLog({ message: '=cmd|calc', categoryName: 'a,b', scopeData: { n: 1 }, timestamp: at(1) }),
    )
    const { headers, text } = await views.get('/api/application-logs/export?format=csv')
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(headers.get('content-disposition')).toBe('attachment; filename="application-logs-20260201T120000Z.csv"')
    // The client takes the byte order mark off; a spreadsheet reads it.
    const [head, row, rest] = text.split('\r\n')
    expect(head).toMatch(/^id,kind,.*,scopeData,originalLevel$/)
    expect(row).toContain(`,"a,b",0,,'=cmd|calc,,"{""n"":1}",`)
    expect(rest).toBe('')
    const raw = await ask('/api/application-logs/export?format=csv')
    expect(Buffer.concat(await raw.toArray()).subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]))
  })

  test('of CSV has the columns that are asked for, values inside scope data and payloads among them', async () => {
    const long = 'y'.repeat(40_000)
    views.store.add(
      applicationLog({ message: 'a', scopeData: { ms: 12.5, tenant: '=cmd|calc' }, timestamp: at(1) }),
      applicationLog({ message: 'b', scopeData: null, timestamp: at(2) }),
      applicationLog({
        message: 'c',
        scopeData: { ms: 12345678901234567890n.toString(), tenant: long },
        timestamp: at(3),
      }),
    )
    const { text } = await views.get(
      '/api/application-logs/export?format=csv&order=asc&columns=message,scope.tenant,scope.ms,message',
    )
    expect(text.split('\r\n')).toEqual([
      'message,scope.tenant,scope.ms',
      "a,'=cmd|calc,12.5",
      'b,,',
      `c,${long.slice(0, 32_767)}…,12345678901234567890`,
      '',
    ])
  })

  test.each([
    ['application', 'columns=message', 'belongs to format=csv; leave it out, or ask for that format'],
    [
      'application',
      'format=csv&columns=payload',
      expect.stringMatching(/^must be names of id, .*, and at most 8 of values such as scope.tenant/),
    ],
    [
      'event',
      'format=csv&columns=message',
      expect.stringMatching(/such as payload.order.id, with commas between them$/),
    ],
    [
      'event',
      `format=csv&columns=${Array.from({ length: 9 }, (_, index) => `payload.v${index}`)}`,
      expect.stringContaining('at most 8'),
    ],
    ['event', 'format=csv&columns=id,,level', expect.stringContaining('must be names of id')],
    ['event', 'format=csv&columns=id,scope.ms', expect.stringContaining('must be names of id')],
    ['application', 'format=csv&columns=id,payload.total', expect.stringContaining('must be names of id')],
  ])('of %s logs with %s is refused, and says what to change', async (kind, query, message) => {
    const { status, error } = await views.get(`/api/${kind}-logs/export?${query}`)
    expect([status, error.code, error.details]).toEqual([400, 'invalid_request', [{ path: 'columns', message }]])
  })

  test('without a match is an empty file', async () => {
    expect((await views.get('/api/event-logs/export')).text).toBe('')
    expect((await views.get('/api/event-logs/export?format=csv')).text.split('\r\n')).toHaveLength(2)
  })

  test('takes the filters, and an order', async () => {
    views.store.add(...many(20))
    const { text } = await views.get(`/api/event-logs/export?order=asc&from=${at(3)}&to=${at(6)}`)
    expect(text.split('\n').map((line) => line && JSON.parse(line).payload)).toEqual(['3', '4', '5', ''])
  })

  test('of a flow has both kinds, oldest first', async () => {
    views.store.add(
      eventLog({ correlationKey: 'k/1', timestamp: at(2), payload: 'second' }),
      applicationLog({ correlationKey: 'k/1', timestamp: at(1), message: 'first' }),
      eventLog({ correlationKey: 'other' }),
    )
    const { text, headers } = await views.get('/api/flows/k%2F1/export?format=csv')
    expect(headers.get('content-disposition')).toBe('attachment; filename="flow-k_1-20260201T120000Z.csv"')
    const [head, first, second, rest] = text.split('\r\n')
    expect(head).toContain('payload,project.id')
    expect(first).toContain(',application,')
    expect(second).toContain(',event,')
    expect(rest).toBe('')
  })

  test('that fails in mid-stream does not look complete', async () => {
    views.store.add(...many(1_200))
    views.store.failAfter(2)
    const response = await ask('/api/event-logs/export')
    expect(response.statusCode).toBe(200)
    await expect(response.toArray()).rejects.toThrow('aborted')
    expect(response.complete).toBe(false)
  })

  test('that waits for other reads longer than a read may is whole all the same', async () => {
    views.store.add(...many(1_200))
    const { search } = views.store
    let pages = 0
    views.store.search = (...args) => {
      pages += 1
      return pages % 2 === 0 ? Promise.reject(new ReadNotBegunError()) : search(...args)
    }
    expect((await views.get('/api/event-logs/export')).text.split('\n')).toHaveLength(1_201)
    expect(pages).toBe(5)
  })

  test('that fails at its start says so', async () => {
    views.store.failAfter(0)
    expect(await views.get('/api/event-logs/export')).toMatchObject({ status: 503, error: { code: 'server_error' } })
  })

  test('reads no further than its reader takes, and no further at all when the client goes', async () => {
    views.store.add(...beyondSockets())
    const response = await ask('/api/event-logs/export')
    const searches = (): number => views.store.calls.filter((call) => call === 'search').length
    const standsStill = async (): Promise<boolean> => {
      const before = searches()
      for (let other = 0; other < 20; other++) await views.get('/api/event-logs/nothing')
      return searches() === before
    }
    await eventually(standsStill)
    const read = searches()
    // The pages that were read fill the sockets, and no more.
    expect(read).toBeLessThan(15)
    response.destroy()
    await eventually(standsStill)
    expect(searches()).toBe(read)
  })

  test('holds no page for a reader that stalls, and goes on where it was', async () => {
    pass(PAGE_KEPT_MS)
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const pages: WeakRef<object>[] = []
    const { search } = views.store
    views.store.search = async (...args) => {
      const page = await search(...args)
      pages.push(new WeakRef(page))
      return page
    }
    const entries = many(1_000, 'x'.repeat(16_000))
    views.store.add(...entries)
    const response = await ask('/api/event-logs/export?order=asc')
    const holdsNothing = async () => /^sluice_read_bytes 0$/m.test(await views.metrics.registry.metrics())
    await eventually(async () => {
      for (let seen = 0; seen < 20; seen += 1) if (!(await holdsNothing())) return false
      return true
    })
    // A new reference holds its object until the end of the turn.
    await nextTurn()
    collect()
    expect(pages.filter((page) => page.deref() !== undefined)).toEqual([])
    const lines = Buffer.concat(await response.toArray())
      .toString()
      .trimEnd()
      .split('\n')
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(entries.map(({ id }) => id))
  })

  test('is cut where its reader takes nothing for a minute', async () => {
    pass(PAGE_KEPT_MS, 60_000)
    views.store.add(...beyondSockets())
    const [response] = await Promise.all([1, 2, 3, 4, 5].map(() => ask('/api/event-logs/export')))
    await eventually(async () => (await ask('/api/event-logs/export')).statusCode === 200)
    await expect(response?.toArray()).rejects.toThrow('aborted')
  })

  test('is cut where a page waits for other reads for a minute', async () => {
    pass(60_000)
    views.store.add(...many(1_200))
    const { search } = views.store
    let pages = 0
    views.store.search = async (...args) => {
      pages += 1
      if (pages === 1) return search(...args)
      await nextTurn()
      throw new ReadNotBegunError()
    }
    const response = await ask('/api/event-logs/export')
    await expect(response.toArray()).rejects.toThrow('aborted')
    expect(pages).toBeGreaterThan(2)
  })

  test('ends before the next page when its key is revoked', async () => {
    views.store.add(...many(1_600))
    const { search } = views.store
    let pages = 0
    views.store.search = (...args) => {
      pages += 1
      if (pages === 2) views.keys.delete(KEY_A)
      return search(...args)
    }
    const response = await ask('/api/event-logs/export')
    expect(response.statusCode).toBe(200)
    await expect(response.toArray()).rejects.toThrow('aborted')
    expect(pages).toBe(2)
  })

  test('is one of five a Team has open at most', async () => {
    views.store.add(...beyondSockets())
    const open = await Promise.all([1, 2, 3, 4, 5].map(() => ask('/api/event-logs/export')))
    const refused = await views.get('/api/event-logs/export')
    expect(refused).toMatchObject({ status: 503, error: { code: 'server_error', retryable: true } })
    open[0]?.destroy()
    await eventually(async () => {
      const response = await ask('/api/event-logs/export')
      response.destroy()
      return response.statusCode === 200
    })
    for (const response of open) response.destroy()
  })
})
