import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { LogStoreReader } from '../../../shared/log-store/log-store.ts'
import { escapeXml } from '../../../views/api/flow-svg.ts'
import { zigzag } from '../../../views/flow-layout/shapes.ts'
import { eventually } from '../../support/eventually.ts'
import * as fc from '../../support/fast-check.ts'
import { applicationLog, at, eventLog, KEY_A, startViews, type ViewsFixture } from '../../support/views-fixture.ts'

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(() => views.close())

const fileOf = async (key: string, more = ''): Promise<string> => {
  const { status, text } = await views.get(`/api/flows/${encodeURIComponent(key)}/export?format=svg${more}`)
  expect(status).toBe(200)
  return text
}

/** Every tag is closed, every attribute is quoted and nothing else is markup; enough for a text this program makes itself. */
function expectWellFormed(xml: string): void {
  const open: string[] = []
  const rest = xml.replaceAll(
    /<(\/?)([a-z]+)((?: [a-zA-Z-]+="[^"<]*")*)(\/?)>/g,
    (_all, close, name, _attributes, self) => {
      if (close === '/') expect(open.pop()).toBe(name)
      else if (self === '') open.push(name)
      return ''
    },
  )
  expect(open).toEqual([])
  expect(rest).not.toMatch(/[<>]/)
}

const marks = (svg: string): readonly string[] =>
  [...svg.matchAll(/class="mark (level-\d)"/g)].map(([, level = '']) => level)

describe('the drawing of a flow', () => {
  test('has its lanes by name, a mark a log, what is idle and what comes next', async () => {
    views.store.add(
      eventLog({ correlationKey: 'k/1', timestamp: at(0), step: 'order.validate' }),
      eventLog({ correlationKey: 'k/1', timestamp: at(30), step: 'order.validate' }),
      eventLog({ correlationKey: 'k/1', timestamp: at(9_000), step: 'order.pay', level: 'Warning' }),
      applicationLog({ correlationKey: 'k/1', timestamp: at(9_060) }),
      eventLog({ correlationKey: 'other', step: 'audit' }),
    )
    const { text, headers } = await views.get('/api/flows/k%2F1/export?format=svg')
    expect(headers.get('content-type')).toBe('image/svg+xml; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="flow-k_1-20260201T120000Z.svg"')
    expect(headers.get('cache-control')).toBe('no-store, no-transform')
    expectWellFormed(text)
    for (const part of ['k/1', 'Order placed', 'Validate', 'Pay', 'Ship', 'Checkout', 'next, not seen', '2 h 29 m'])
      expect(text).toContain(`>${part}</`)
    expect(text).toContain(
      '4 logs, 2026-02-01 11:00:00.000Z to 2026-02-01 13:31:00.000Z; drawn 2026-02-01 12:00:00.000Z',
    )
    expect(marks(text)).toEqual(['level-2', 'level-2', 'level-3', 'level-2'])
    expect(text).not.toContain('Audit')
  })

  test('awaits no Step of a flow that failed', async () => {
    views.store.add(eventLog({ correlationKey: 'k', timestamp: at(0), step: 'order.validate', level: 'Error' }))
    const text = await fileOf('k')
    expect(text).toContain('>not seen</')
    expect(text).not.toContain('next, not seen')
  })

  test('stands alone: no script, no address but the name space', async () => {
    views.store.add(eventLog({ correlationKey: 'k' }))
    const text = await fileOf('k')
    expect(new Set(text.match(/[a-z]+:\/\/[^"]*/g))).toEqual(new Set(['http://www.w3.org/2000/svg']))
    expect(text).not.toMatch(/<(?:script|image|use|foreignObject)|\son[a-z]+=|url\(|@import/i)
  })

  test('takes hostile text as text', async () => {
    const hostile = '</title><script>alert(1)</script>"\u0001\u202e'
    views.entities.set('order', { kind: 'event', identifier: 'order', team: 'a', name: hostile })
    views.store.add(
      eventLog({ correlationKey: hostile, payload: hostile }),
      applicationLog({ correlationKey: hostile, categoryName: hostile, message: hostile }),
    )
    const text = await fileOf(hostile)
    expectWellFormed(text)
    expect(text).not.toContain('<script')
    expect(text).toContain('&#60;script&#62;')
    for (const unseen of ['\u0001', '\u202e']) expect(text).not.toContain(unseen)
  })

  test('takes the filters, and the two keys that no path can hold', async () => {
    views.store.add(...[0, 1, 2, 3].map((second) => eventLog({ correlationKey: '..', timestamp: at(second) })))
    const { text } = await views.get(`/api/flows/-/export?key=..&format=svg&from=${at(1)}&to=${at(3)}&order=desc`)
    expect(text).toContain(`2 logs, 2026-02-01 11:00:01.000Z to 2026-02-01 11:00:02.000Z`)
    expect(marks(text)).toHaveLength(2)
  })

  test('is empty where the filters leave nothing', async () => {
    views.store.add(eventLog({ correlationKey: 'k' }))
    const text = await fileOf('k', '&level=Critical')
    expectWellFormed(text)
    expect(text).toContain('>0 logs; drawn ')
    expect(marks(text)).toEqual([])
    expect(text).not.toContain('NaN')
  })

  test('shows the first 5,000 logs, and says so', async () => {
    views.store.add(
      ...Array.from({ length: 5_001 }, (_, index) => eventLog({ correlationKey: 'k', timestamp: at(index) })),
    )
    expect(await fileOf('k')).toContain('>the first 5,000 logs, 2026-02-01 11:00:00.000Z to 2026-02-01 12:23:19.000Z; ')
  })

  test('shows the first 500 lanes, says so, and stays small whatever their names are', async () => {
    const name = (index: number) => `${index}${'\u202e]]>&\u0001\ufffe'.repeat(170)}`
    for (let index = 0; index < 2_000; index += 1) {
      const identifier = `step-${index}`
      views.entities.set(identifier, {
        kind: 'step',
        identifier,
        team: 'a',
        name: name(index),
        event: 'order',
        order: 1,
      })
    }
    views.store.add(
      ...Array.from({ length: 5_000 }, (_, index) =>
        eventLog({ correlationKey: 'k', timestamp: at(index), step: `step-${index % 2_000}` }),
      ),
    )
    const text = await fileOf('k')
    expectWellFormed(text)
    expect(text).toContain('; 500 of 2,004 lanes; drawn ')
    expect(text.length).toBeLessThan(1_000_000)
  })

  test('of long logs holds no more of them than a row of a list', async () => {
    const message = 'x'.repeat(14_000)
    views.store.add(
      ...Array.from({ length: 1_100 }, (_, index) =>
        applicationLog({ correlationKey: 'k', timestamp: at(index), message }),
      ),
    )
    const text = await fileOf('k')
    expect(text).toContain('>1,100 logs, ')
    expect(text.length).toBeLessThan(1_000_000)
  })

  test('of long logs holds their texts no longer than a page is read', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const { search } = views.store
    const pages: WeakRef<object>[] = []
    let held = 0
    views.store.search = async (...args) => {
      // A new reference holds its object until the end of the turn.
      await nextTurn()
      collect()
      held = pages.filter((page) => page.deref() !== undefined).length
      const page = await search(...args)
      const scopeData = { text: 'long' }
      pages.push(new WeakRef(scopeData))
      return { ...page, entries: page.entries.map((entry) => ({ ...entry, scopeData })) as typeof page.entries }
    }
    views.store.add(
      ...Array.from({ length: 3_200 }, (_, index) => applicationLog({ correlationKey: 'k', timestamp: at(index) })),
    )
    expect(await fileOf('k')).toContain('>3,200 logs, ')
    expect(pages).toHaveLength(7)
    // The latest page, and sometimes the one before it, may still be on the stack.
    expect(held).toBeLessThan(3)
  })

  test('is not read on for a reader who has gone', async () => {
    await views.close()
    views = await startViews({ store: { search: (...args) => search(...args) } })
    // A request after the reader has gone is answered after the server has noticed.
    const roundTrips = async (): Promise<void> => {
      for (let count = 0; count < 5; count += 1) await views.get('/api/query/syntax')
    }
    const gone = new AbortController()
    let searches = 0
    const search: LogStoreReader['search'] = async (...args) => {
      searches += 1
      gone.abort()
      await roundTrips()
      return views.store.search(...args)
    }
    views.store.add(
      ...Array.from({ length: 1_600 }, (_, index) => eventLog({ correlationKey: 'k', timestamp: at(index) })),
    )
    const init = { headers: { 'x-api-key': KEY_A }, signal: gone.signal }
    await expect(fetch(`${views.url}/api/flows/k/export?format=svg`, init)).rejects.toThrow('abort')
    await eventually(() => searches > 0)
    await roundTrips()
    await roundTrips()
    expect(searches).toBe(1)
  })

  test('of several pages leaves none of their memory taken', async () => {
    views.store.add(
      ...Array.from({ length: 1_200 }, (_, index) => eventLog({ correlationKey: 'k', timestamp: at(index) })),
    )
    await fileOf('k')
    expect(await views.metrics.registry.metrics()).toMatch(/^sluice_read_bytes 0$/m)
  })

  test('that cannot be made says so', async () => {
    views.store.add(eventLog({ correlationKey: 'k' }))
    views.store.failAfter(1)
    expect(await views.get('/api/flows/k/export?format=svg')).toMatchObject({
      status: 503,
      error: { code: 'server_error' },
    })
  })
})

test('text is well-formed XML whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      expect(escapeXml(text)).not.toMatch(/[<>"]|&(?!#\d+;)/)
      expect(escapeXml(text).isWellFormed()).toBe(true)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what XML 1.0 forbids
      expect(escapeXml(text)).not.toMatch(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/)
    }),
  )
})

test('torn edges reach to the bottom and stay within their stretch', () => {
  const [left, right] = zigzag(100, 148, 300).split('M').slice(1)
  expect(left).toMatch(/^110 0(?:l4 7l-4 7){22}$/)
  expect(right).toMatch(/^134 0/)
})
