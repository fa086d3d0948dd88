import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { type LossyTail, startLossyTail } from '../support/lossy-tail.ts'
import {
  DRAWN_MAX,
  LOGS_KEY,
  type LogsServer,
  paramsOf,
  rowIds,
  rowTexts,
  startLogsServer,
} from '../support/page-logs.ts'

/** A number of its own for every log that a test sends. */
const numbers = (from: number, count: number): readonly number[] => Array.from({ length: count }, (_, i) => from + i)

describeWithBrowser('the tail of a list', ({ open, tolerate }) => {
  let server: LogsServer
  beforeAll(async () => {
    server = await startLogsServer()
    await server.event({ payload: 'before' })
    await server.total('event', 1)
  }, 90_000)
  afterAll(async () => {
    await server.close()
  })

  const show = async (url: string, path: string): Promise<Page> => {
    const { page } = await open(url, { path, key: LOGS_KEY, reducedMotion: true })
    await page.locator('tr.log').first().waitFor()
    return page
  }
  const live = async (page: Page): Promise<void> => {
    await page.keyboard.press('t')
    await page.locator('.tail.live').waitFor()
  }
  const look = (page: Page, hidden: boolean): Promise<void> =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))`,
    )
  /** Runs the body on a list that follows the tail through connections that can be cut and refused. */
  const onLossyTail = async (body: (lossy: LossyTail, page: Page) => Promise<void>): Promise<void> => {
    tolerate(/net::ERR_|Failed to load resource/)
    const lossy = await startLossyTail(server.url)
    try {
      const page = await show(lossy.url, '/event-logs')
      await live(page)
      await body(lossy, page)
    } finally {
      await lossy.close()
    }
  }
  /** Sends logs one after the other, so that their order is known, and gives their ids. */
  const send = async (name: string, ns: readonly number[]): Promise<readonly string[]> => {
    const ids: string[] = []
    for (const n of ns) ids.push(await server.event({ payload: `${name} ${n}` }))
    return ids
  }
  /**
   * The ledger: every log that was sent is a row, once, and in its order. On a slow machine more than a page of them may have been sent
   * before the list was read; the oldest are then read on.
   */
  const expectLedger = (page: Page, name: string, sent: readonly string[]): Promise<void> =>
    tall(page, async () => {
      // Without scrolling to it, which would hold the tail back; and at once, as the page may load them by itself.
      await page.evaluate(
        '[...document.querySelectorAll("button")].find(({ textContent }) => textContent === "Load older")?.click()',
      )
      const ids = await rowIds(page)
      expect(new Set(ids).size).toBe(ids.length)
      const texts = await rowTexts(page)
      const ours = ids.filter((_, index) => texts[index]?.startsWith(name))
      expect(ours).toEqual(sent.toReversed())
    })
  /** Waits for it in a window with room for every row, as others are not drawn. */
  const tall = async (page: Page, holds: () => Promise<void>): Promise<void> => {
    const size = page.viewportSize() ?? { width: 0, height: 0 }
    await page.setViewportSize({ ...size, height: 20_000 })
    await eventually(holds, 20_000)
    await page.setViewportSize(size)
  }

  test('is counted on one scale, and a list with another filter on its own', async () => {
    let highest = 120
    const prepare = (page: Page) =>
      page.route(/\/histogram\?/, (route) => {
        const buckets = [highest, 10, 10].map((total, index) => ({
          ...{ from: new Date(index * 60_000).toISOString(), total, levels: { Information: total } },
        }))
        return route.fulfill({ json: { success: true, data: { interval: 60_000, buckets, total: highest + 20 } } })
      })
    const { page } = await open(server.url, { key: LOGS_KEY, path: '/event-logs?live=1', prepare })
    const expectScale = (scale: RegExp): Promise<void> =>
      eventually(async () =>
        expect(await page.locator('.histogram figcaption span').first().textContent()).toMatch(scale),
      )
    await expectScale(/highest 120, low ones enlarged$/)
    highest = 70
    await server.event({ payload: 'counted again' })
    await expectScale(/highest 70, low ones enlarged$/)
    await page.getByTitle('Only Error').click()
    await expectScale(/highest 70$/)
  })

  test('goes on from the list without a gap and without repeating, while logs pour in', async () => {
    const name = 'pour'
    const sent: string[] = []
    let pouring = true
    const pour = (async () => {
      for (let n = 0; pouring; n += 1) sent.push(await server.event({ payload: `${name} ${n}` }))
    })()
    const page = await show(server.url, '/event-logs')
    await live(page)
    await page.keyboard.press('t')
    await page.locator('.tail.off').waitFor()
    await live(page)
    const enough = sent.length + 40
    await eventually(() => sent.length >= enough)
    pouring = false
    await pour
    await expectLedger(page, name, sent)
    expect(paramsOf(page)).toEqual({ live: '1' })
  })

  test('draws no more rows than there is room for, however many come', async () => {
    await server.application({ message: 'first' })
    await server.total('application', 1)
    const page = await show(server.url, '/application-logs')
    await live(page)
    const nodes = (): Promise<number> => page.evaluate('document.querySelectorAll("*").length')
    const send = async (from: number): Promise<void> => {
      const logs = numbers(from, 300).map((n) => ({ message: `many ${n}`, timestamp: new Date().toISOString() }))
      await server.applications(logs)
      await server.total('application', 1 + from + logs.length)
      const newest = (await server.client.all('/api/application-logs'))[0]?.id
      await eventually(async () => expect((await rowIds(page))[0]).toBe(newest), 20_000)
    }
    await send(0)
    const before = await nodes()
    await send(300)
    expect(await nodes()).toBeLessThan(before + 50)
    expect((await rowIds(page)).length).toBeLessThanOrEqual(DRAWN_MAX)
  })

  test('what comes while the list is still on its way is not lost when that replaces the rows', async () => {
    const page = await show(server.url, '/event-logs')
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    let latest = 0
    let received = 0
    session.on('Network.eventSourceMessageReceived', () => {
      received += 1
      latest = performance.now()
    })
    const asked = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    await page.route(/\/api\/event-logs\?/, async (route) => {
      const response = await route.fetch()
      asked.resolve()
      await held.promise
      await route.fulfill({ response })
    })
    await page.keyboard.press('t')
    await asked.promise
    const ids = await send('meanwhile', numbers(0, 3))
    // Past the time in which the page gathers what it draws together.
    await eventually(() => received === 3 && performance.now() - latest > 400)
    held.resolve()
    await expectLedger(page, 'meanwhile', ids)
  })

  test('an empty list says why, also once it is not live any more', async () => {
    const path = '/event-logs?q=nowhere&from=2026-01-31T09:30:00Z'
    const { page } = await open(server.url, { path, key: LOGS_KEY, reducedMotion: true })
    await page.getByText('Nothing matches').waitFor()
    await live(page)
    await page.keyboard.press('t')
    await page.locator('.tail.off').waitFor()
    await page.getByText('Nothing matches').waitFor()
  })

  test('rests in a tab that is not looked at, as a browser has few connections, and catches up when it is', async () => {
    const page = await show(server.url, '/event-logs')
    await live(page)
    const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/tail'))
    await look(page, true)
    await ended
    const ids = await send('unseen', numbers(0, 3))
    await look(page, false)
    await page.locator('.tail.live').waitFor()
    await expectLedger(page, 'unseen', ids)
  })

  test('adds nothing of the search before to the list, when it still catches up as another search is made', async () => {
    const page = await show(server.url, '/event-logs')
    await live(page)
    const asked = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    await page.route(/\/api\/event-logs\?(?!.*q=)/, async (route) => {
      const response = await route.fetch()
      asked.resolve()
      await held.promise
      await route.fulfill({ response })
    })
    await look(page, true)
    await look(page, false)
    await asked.promise
    const ended = page.waitForEvent('requestfailed', (request) => /event-logs\?(?!.*q=)/.test(request.url()))
    await page.getByRole('combobox', { name: 'Search' }).fill('nothing like it')
    await page.keyboard.press('Enter')
    await page.getByText('Nothing matches').waitFor()
    await ended
    held.resolve()
    await page.evaluate('new Promise(requestAnimationFrame)')
    expect(await rowTexts(page)).toEqual([])
  })

  test('shows what it filters for, and counts what comes', async () => {
    const page = await show(server.url, '/event-logs')
    await page.getByRole('combobox', { name: 'Search' }).fill('filtered')
    await page.keyboard.press('Enter')
    await page.getByText('Nothing matches').waitFor()
    await page.getByRole('combobox', { name: 'Search' }).press('Escape')
    await live(page)
    const ids = await send('filtered', numbers(0, 3))
    await send('other', numbers(0, 3))
    await expectLedger(page, 'filtered', ids)
    expect(await rowTexts(page)).toHaveLength(3)
    await page.getByText('3 logs', { exact: true }).waitFor()
  })

  test('waits while one reads an entry, tells how many are new, and shows them when one is done', async () => {
    const page = await show(server.url, '/event-logs')
    await live(page)
    await page.locator('tr.log .text').first().click()
    await page.getByRole('button', { name: 'Paused' }).waitFor()
    // How many rows are drawn below those in sight depends on the height of the open entry.
    const inSight = async (): Promise<string[]> => (await rowIds(page)).slice(0, 10)
    const before = await inSight()
    const ids = await send('while reading', numbers(0, 4))
    await page.getByRole('button', { name: '4 new' }).waitFor()
    expect(await inSight()).toEqual(before)
    await page.locator('tr.log .text').first().click()
    await expectLedger(page, 'while reading', ids)
  })

  test('shows what comes between the end of the reading and the release of what was held back', async () => {
    const page = await show(server.url, '/event-logs')
    await live(page)
    await page.locator('tr.log .text').first().click()
    await page.getByRole('button', { name: 'Paused' }).waitFor()
    const held = await send('between', numbers(0, 2))
    await page.getByRole('button', { name: '2 new' }).waitFor()
    // Effects, which Preact runs after the browser has painted or 35 ms later, wait for the next drawing.
    await page.evaluate(
      `const after = window.setTimeout
      window.requestAnimationFrame = () => 0
      window.setTimeout = (run, ms, ...more) => (ms === 35 ? 0 : after(run, ms, ...more))
      document.querySelector('tr.log .text').click()`,
    )
    const late = await send('between', numbers(2, 1))
    await tall(page, async () => expect((await rowIds(page)).slice(0, 3)).toEqual([...held, ...late].toReversed()))
  })

  test('does not wait for an entry that was read in a list of before, nor beside groups', async () => {
    await server.application({ message: 'grouped' })
    const page = await show(server.url, '/application-logs')
    await page.locator('tr.log .text').first().click()
    await page.keyboard.press('t')
    await page.getByRole('button', { name: 'Paused' }).waitFor()
    await page.getByRole('button', { name: 'Templates' }).click()
    await page.locator('.tail.live').waitFor()
    await page.getByRole('button', { name: 'List', exact: true }).click()
    await page.getByRole('button', { name: 'Paused' }).waitFor()
    await page.getByRole('combobox', { name: 'Search' }).fill('nothing like it')
    await page.keyboard.press('Enter')
    await page.getByText('Nothing matches').waitFor()
    await page.locator('.tail.live').waitFor()
  })

  test('waits while one is further down, and the button goes back to the top', async () => {
    await send('filler', numbers(0, 60))
    const page = await show(server.url, '/event-logs')
    await live(page)
    await eventually(async () => expect((await rowIds(page)).length).toBeGreaterThan(30))
    await page.mouse.move(700, 500)
    await page.mouse.wheel(0, 600)
    await page.getByRole('button', { name: 'Paused' }).waitFor()
    const place = await page.evaluate<number>('scrollY')
    const ids = await send('while away', numbers(0, 3))
    await page.getByRole('button', { name: '3 new' }).waitFor()
    expect(await page.evaluate('scrollY')).toBe(place)
    await page.getByRole('button', { name: '3 new' }).click()
    await expectLedger(page, 'while away', ids)
    await eventually(async () => expect(await page.evaluate('scrollY')).toBe(0))
  })

  test('tells of a log whose time is not in sight, and of none that is not there', async () => {
    const page = await show(server.url, '/event-logs?from=now-1h')
    await live(page)
    await server.event({ payload: 'late', timestamp: new Date(Date.now() - 7_200_000).toISOString() })
    await page.getByText('1 log arrived with an older time').waitFor()
    expect((await rowTexts(page)).includes('late')).toBe(false)
  })

  describe('through a reader that is too slow', () => {
    test('says how many it was not sent, and loads them: none is missing then, none is there twice', async () => {
      const lossy = await startLossyTail(server.url)
      try {
        const page = await show(lossy.url, '/event-logs')
        await live(page)
        const first = await send('slow', numbers(0, 5))
        await expectLedger(page, 'slow', first)
        lossy.lose()
        const between = await send('slow', numbers(5, 7))
        const last = ['slow 12', 'slow 13']
        await eventually(async () => {
          const { data } = await server.client.get<{ total: number }>('/api/event-logs/histogram?q=slow&buckets=1')
          return data.total === 12
        })
        let told = 0
        await eventually(async () => {
          told += await lossy.tell()
          if (told < 7) lossy.lose()
          return told === 7
        })
        await page.getByText('7 logs came faster than this page could take them').waitFor()
        const after = await send('slow', numbers(12, last.length))
        await expectLedger(page, 'slow', [...first, ...after])
        await page.getByRole('button', { name: 'Load them' }).click()
        await expectLedger(page, 'slow', [...first, ...between, ...after])
        expect(await page.getByText('came faster').count()).toBe(0)
        const end = await send('slow', numbers(14, 3))
        await expectLedger(page, 'slow', [...first, ...between, ...after, ...end])
      } finally {
        await lossy.close()
      }
    })
  })

  test('goes on after its connection broke, with what came meanwhile', () =>
    onLossyTail(async (lossy, page) => {
      const first = await send('broken', numbers(0, 2))
      await expectLedger(page, 'broken', first)
      lossy.cut()
      const second = await send('broken', numbers(2, 5))
      await expectLedger(page, 'broken', [...first, ...second])
    }))

  test('goes on after it was refused for a while, with what came meanwhile, also where nothing had come before', () =>
    onLossyTail(async (lossy, page) => {
      lossy.refuse(true)
      lossy.cut()
      const ids = await send('refused', numbers(0, 5))
      await eventually(() => lossy.refused() > 0)
      lossy.refuse(false)
      await page.locator('.tail.live').waitFor()
      await expectLedger(page, 'refused', ids)
    }))

  test('goes on after the place where it was is refused for good, with what came meanwhile', () =>
    onLossyTail(async (lossy, page) => {
      const first = await send('placed', numbers(0, 2))
      await expectLedger(page, 'placed', first)
      await page.route(/\/tail\?.*lastEventId=/, (route) => route.fulfill({ status: 431 }))
      lossy.refuse(true)
      lossy.cut()
      const second = await send('placed', numbers(2, 3))
      await eventually(() => lossy.refused() > 0)
      lossy.refuse(false)
      await page.locator('.tail.live').waitFor()
      await expectLedger(page, 'placed', [...first, ...second])
    }))
})
