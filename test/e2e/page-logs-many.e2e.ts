import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { LOGS_KEY, type LogsServer, paramsOf, rowIds, startLogsServer } from '../support/page-logs.ts'

const COUNT = 1_100
const ROWS_MAX = 5_000
const NOW = Date.now()

/** Logs a second apart, a few of them in the same millisecond. */
const logs = Array.from({ length: COUNT }, (_, index) => ({
  message: `log ${index}`,
  categoryName: `Acme.Part${index % 7}.Class${index % 3}`,
  level: index % 50 === 0 ? 'Error' : 'Information',
  timestamp: new Date(NOW - 60_000 - Math.floor(index / 2) * 1_000).toISOString(),
}))

describeWithBrowser('a list of many logs', ({ open, tolerate }) => {
  let server: LogsServer
  let all: readonly string[]
  beforeAll(async () => {
    server = await startLogsServer()
    await server.applications(logs)
    await server.total('application', COUNT)
    all = (await server.client.all('/api/application-logs')).map(({ id }) => id)
  }, 90_000)
  afterAll(async () => {
    await server.close()
  })

  const show = async (path = '/application-logs', options = {}): Promise<Page> => {
    const { page } = await open(server.url, { path, key: LOGS_KEY, reducedMotion: true, ...options })
    await page.locator('tr.log').first().waitFor()
    return page
  }
  const toEnd = (page: Page) => page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')

  /** Scrolls on until `done`; what is there is always the beginning of the whole list. */
  async function readOn(page: Page, done: (ids: readonly string[]) => boolean): Promise<void> {
    await eventually(async () => {
      const ids = await rowIds(page)
      expect(ids).toEqual(all.slice(0, ids.length))
      if (done(ids)) return true
      await toEnd(page)
      return false
    }, 40_000)
  }

  test('is read on by going down, to the last one: every log, none twice', async () => {
    const page = await show()
    await readOn(page, (ids) => ids.length === COUNT)
    await page.getByText('No older logs in this time').waitFor()
  })

  test('is read on where the browser tells only late that its end came in view', async () => {
    const page = await show()
    // It was out of view and came in view before the page was told: it is told both at once.
    await page.addInitScript(`
      const { IntersectionObserver: Native } = window
      window.IntersectionObserver = class extends Native {
        constructor(tell, options) {
          super((entries) => tell([{ isIntersecting: false }, ...entries]), options)
        }
      }
    `)
    await page.reload()
    await readOn(page, (ids) => ids.length > 100)
  })

  test('keeps the place where one reads while rows come below', async () => {
    const page = await show()
    // Not every browser keeps it by itself.
    await page.evaluate(`document.querySelector('main').style.overflowAnchor = 'none'`)
    await readOn(page, (ids) => ids.length >= 400)
    await page.evaluate('scrollBy(0, -2500)')
    const at = await page.evaluate<{ id: string; top: number }>(
      `(() => {
        const row = [...document.querySelectorAll('tr.log')].find((one) => one.getBoundingClientRect().top > 200)
        return { id: row.dataset.id, top: row.getBoundingClientRect().top }
      })()`,
    )
    const top = (): Promise<number> =>
      page.evaluate(`document.querySelector('tr[data-id="${at.id}"]').getBoundingClientRect().top`)
    const last = (await rowIds(page)).at(-1)
    await page.evaluate(`document.querySelector('.more button').click()`)
    await eventually(async () => expect((await rowIds(page)).at(-1)).not.toBe(last))
    await eventually(async () => expect(Math.abs((await top()) - at.top)).toBeLessThan(3))
  })

  test.each([
    ['older', '', (time: string) => ({ to: new Date(Date.parse(time) + 1).toISOString() })],
    ['newer', '&order=asc', (time: string) => ({ from: time })],
  ])('ends at the most rows, says so, and goes on with those that are %s', async (_which, order, range) => {
    const from = new Date(NOW - 3_600_000).toISOString()
    const page = await show(`/application-logs?from=${from}${order}`)
    await page.route(/application-logs[?].*limit=100/, async (route) => {
      const { data, ...body } = await (await route.fetch()).json()
      const [one] = data.items
      const items = Array.from({ length: ROWS_MAX }, (_, index) => ({ ...one, id: `copy-${index}` }))
      await route.fulfill({ json: { ...body, data: { ...data, items } } })
    })
    await page.keyboard.press('r')
    await eventually(async () => expect(await rowIds(page)).toHaveLength(ROWS_MAX), 20_000)
    await page.getByText('No more than 5,000 logs are shown at once.').waitFor()
    const last = await page.evaluate<string>(`[...document.querySelectorAll('tr.log .at button')].at(-1).title`)
    await page.unroute(/application-logs[?].*limit=100/)
    expect(await page.locator('.more button').textContent()).toBe('Go on from here')
    // Asking each of so many rows for its role would take long.
    await page.evaluate(`document.querySelector('.more button').click()`)
    await eventually(() => expect(paramsOf(page)).toMatchObject({ from, ...range(last) }))
    await eventually(async () => expect(await rowIds(page)).toHaveLength(100))
    expect((await rowIds(page))[0]).toBe(order === '' ? all[0] : all.at(-1))
  })

  test('counts what is there, not what is in sight', async () => {
    const page = await show()
    await page.getByText('1,100 logs').waitFor()
    const levels = page.getByRole('group', { name: 'Minimum level' })
    expect(await levels.getByRole('button', { name: 'error' }).textContent()).toBe('error22')
    await eventually(async () => expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe('1100'))
  })

  test('begins at the other end just as well', async () => {
    const page = await show('/application-logs?order=asc')
    const ids = await rowIds(page)
    expect(ids).toEqual(all.toReversed().slice(0, ids.length))
    await toEnd(page)
    await eventually(async () => expect((await rowIds(page)).slice(0, 200)).toEqual(all.toReversed().slice(0, 200)))
  })

  test('says what failed when more cannot be read, and goes on when it can', async () => {
    tolerate(/net::ERR_|Failed to load resource/)
    const page = await show()
    await page.route('**&cursor=**', (route) => route.abort())
    await toEnd(page)
    await page.getByText('More logs could not be read').waitFor()
    await page.unroute('**&cursor=**')
    await page.getByRole('button', { name: 'Load older' }).click()
    await eventually(async () => expect((await rowIds(page)).length).toBe(200))
  })

  describe('when the server is gone', () => {
    test('what is there stays, what is typed stays, and all goes on when it is back', async () => {
      tolerate(/net::ERR_|Failed to load resource|status of 50/)
      const page = await show('/application-logs?live=1')
      await page.locator('.tail.live').waitFor()
      const before = await rowIds(page)
      await page.getByRole('combobox', { name: 'Search' }).fill('half a sear')
      await server.stop()
      await page.locator('.tail.away').waitFor()
      await page.getByRole('group', { name: 'Minimum level' }).getByRole('button', { name: 'error' }).click()
      await page.getByText('The server does not answer').first().waitFor()
      expect(await rowIds(page)).toEqual(before)
      expect(await page.getByRole('combobox', { name: 'Search' }).inputValue()).toBe('half a sear')
      await server.restart()
      await eventually(async () => expect((await rowIds(page)).length).toBe(22), 30_000)
      expect(await page.getByRole('combobox', { name: 'Search' }).inputValue()).toBe('half a sear')
      await page.locator('.tail.live').waitFor()
    })
  })

  const states: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
    list: () => Promise.resolve(),
    expanded: (page) => page.locator('tr.log .text').nth(1).click(),
    entry: async (page) => {
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.getByRole('tab', { name: 'Context' }).click()
      await page.locator('.context li').first().waitFor()
    },
    completion: async (page) => {
      await page.getByRole('combobox', { name: 'Search' }).pressSequentially('level:')
      await page.getByRole('listbox').getByRole('option').first().waitFor()
    },
    syntax: (page) => page.getByRole('button', { name: 'How to search' }).click(),
    time: (page) => page.keyboard.press('d'),
    table: (page) => page.getByRole('button', { name: 'As a table' }).click(),
    nothing: async (page) => {
      await page.getByRole('combobox', { name: 'Search' }).fill('no:such (thing')
      await page.keyboard.press('Enter')
      await page.getByText('Nothing matches').waitFor()
    },
  }

  test.each([
    ['light', 1_440],
    ['dark', 1_440],
    ['light', 390],
    ['dark', 390],
  ])('axe finds nothing, and nothing is wider than the screen (%s, %d wide)', async (theme, width) => {
    const path = '/application-logs?environment=Development'
    const size = { width, height: width === 390 ? 844 : 900 }
    const options = { path, key: LOGS_KEY, reducedMotion: true, dark: theme === 'dark', ...size }
    const { page, axe } = await open(server.url, options)
    for (const [name, reach] of Object.entries(states)) {
      await page.goto(server.url + path)
      await page.locator('tr.log').first().waitFor()
      await page.getByText('1,100 logs').waitFor()
      await reach(page)
      const wider = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      expect([name, Math.max(0, wider), await axe()]).toEqual([name, 0, []])
    }
  })

  test('at 390 pixels the filters are in a drawer, and an entry takes the whole screen', async () => {
    const page = await show('/application-logs', { width: 390, height: 844 })
    expect(await page.getByRole('complementary', { name: 'Filters' }).isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Filters' }).click()
    const drawer = page.getByRole('dialog', { name: 'Filters' })
    await drawer.getByRole('button', { name: 'Part3 157' }).click()
    await page.keyboard.press('Escape')
    await page.getByText('157 logs').waitFor()
    await page.locator('tr.log .at button').first().press('Enter')
    const box = await page.getByRole('complementary', { name: 'Log', exact: true }).boundingBox()
    expect(box).toMatchObject({ x: 0, y: 0, width: 390, height: 844 })
  })
})
