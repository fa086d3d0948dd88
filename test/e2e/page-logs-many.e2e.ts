import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import {
  DRAWN_MAX,
  drawnRows,
  LOGS_KEY,
  type LogsServer,
  overflow,
  readDown,
  rowIds,
  startLogsServer,
} from '../support/page-logs.ts'

const COUNT = 1_100
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

  const readOn = (page: Page, count: number): Promise<void> => readDown(page, all, count)
  /** The row that has the focus, and how far it is from the top of the window. */
  const focused = (page: Page): Promise<{ readonly id: string; readonly top: number } | null> =>
    page.evaluate(
      `(() => {
        const row = document.activeElement.closest('tr.log')
        return row && { id: row.dataset.id, top: row.getBoundingClientRect().top }
      })()`,
    )

  test('is read on by going down, to the last one: every log in its place, and few of them drawn', async () => {
    const page = await show()
    await readOn(page, COUNT)
    await toEnd(page)
    await page.getByText('No older logs in this time').waitFor()
    expect((await drawnRows(page)).at(-1)).toEqual([COUNT - 1, all.at(-1)])
    await page.evaluate('scrollTo(0, 0)')
    await eventually(async () => expect((await drawnRows(page))[0]).toEqual([0, all[0]]))
  })

  test('is gone back to beyond 1,000 rows', async () => {
    const page = await show()
    await readOn(page, COUNT)
    const place = page.locator(`[data-id="${all[COUNT - 40]}"]`)
    const top = async (): Promise<number> => (await place.boundingBox())?.y ?? Number.NaN
    await place.locator('.time').focus()
    await eventually(() => page.evaluate('history.state?.scroll === scrollY'))
    const before = await top()
    await page.getByRole('link', { name: 'Watches' }).click()
    await page.getByRole('heading', { name: 'Watches', level: 1 }).waitFor()
    await page.goBack()
    await eventually(async () => expect(await top()).toBeCloseTo(before, 0))
  })

  test('is gone back to with a word where one was too far down to read it all again', async () => {
    const page = await show()
    await readOn(page, 150)
    await eventually(() => page.evaluate('history.state?.scroll === scrollY'))
    await page.evaluate('history.replaceState({ ...history.state, id: "gone", rows: 20000 }, "")')
    let reads = 0
    await page.route(/[?&]cursor=/, (route) => {
      reads += 1
      return route.fulfill({
        json: { success: true, data: { items: [], nextCursor: 'further', query: { read: 'query' } } },
      })
    })
    await page.reload()
    await page.getByText('Where you were is below the first 1,000 logs, and has not been read again.').waitFor()
    await page.locator('tr.log').first().waitFor()
    expect(reads).toBe(9)
    await page.unrouteAll()
  })

  test('is walked by keyboard, row by row', async () => {
    const page = await show()
    for (let n = 0; n < 150; n += 1) await page.keyboard.press('j')
    await eventually(async () => expect((await focused(page))?.id).toBe(all[149]))
    for (let n = 0; n < 9; n += 1) await page.keyboard.press('k')
    await eventually(async () => expect((await focused(page))?.id).toBe(all[140]))
  })

  test('the row at the keyboard keeps the focus far out of sight, and the next one is beside it', async () => {
    const page = await show()
    for (let n = 0; n < 3; n += 1) await page.keyboard.press('j')
    await page.evaluate(`window.row = document.activeElement.closest('tr')`)
    await readOn(page, 600)
    expect(await focused(page)).toMatchObject({ id: all[2] })
    // The same element, not another one of the same log.
    expect(await page.evaluate('row === document.activeElement.closest("tr")')).toBe(true)
    await page.keyboard.press('j')
    await eventually(async () => {
      const { id, top } = (await focused(page)) ?? { id: '', top: -1 }
      expect([id, top > 0 && top < 900]).toEqual([all[3], true])
    })
  })

  test('rows that are expanded keep their height while they are not drawn', async () => {
    const page = await show()
    await page.locator('tr.log .text').nth(1).click()
    await page.locator('tr.log .text').nth(3).click()
    await eventually(async () => expect(await page.locator('tr.detail').count()).toBe(2))
    // Reading on may have gone past the row, so that it is not drawn.
    const place = () =>
      eventually(() =>
        page.evaluate<number | false>(`(() => {
          const row = document.querySelector('tr[data-id="${all[300]}"]')
          if (row !== null) return row.getBoundingClientRect().top + scrollY
          scrollBy(0, -innerHeight / 2)
          return false
        })()`),
      )
    await readOn(page, 320)
    const [before, drawnNow] = [await place(), (await drawnRows(page)).length]
    expect(drawnNow).toBeLessThanOrEqual(DRAWN_MAX)
    await page.evaluate('scrollTo(0, 0)')
    await eventually(async () => expect((await drawnRows(page))[0]).toEqual([0, all[0]]))
    await readOn(page, 320)
    expect(await place()).toBe(before)
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
    await readOn(page, 150)
  })

  test('keeps the place where one reads while rows come below', async () => {
    const page = await show()
    // Not every browser keeps it by itself.
    await page.evaluate(`document.querySelector('main').style.overflowAnchor = 'none'`)
    await readOn(page, 400)
    await page.evaluate('scrollBy(0, -1000)')
    const id = await page.evaluate<string>(
      `[...document.querySelectorAll('tr.log')].find((one) => one.getBoundingClientRect().top > 200).dataset.id`,
    )
    const top = (): Promise<number> =>
      page.evaluate(`document.querySelector('tr[data-id="${id}"]').getBoundingClientRect().top`)
    const height = (): Promise<number> => page.evaluate(`document.querySelector('.log-table').offsetHeight`)
    const [at, before] = [await top(), await height()]
    await page.evaluate(`document.querySelector('.more button').click()`)
    await eventually(async () => expect(await height()).toBeGreaterThan(before))
    expect(Math.abs((await top()) - at)).toBeLessThan(3)
  })

  test('begins at its newest row when a filter changes further down, and stays where it is when a log is opened', async () => {
    const page = await show()
    await page.evaluate('scrollTo(0, 1500)')
    await page.locator(`tr[data-id="${all[60]}"] .at button`).press('Enter')
    await page.getByRole('complementary', { name: 'Log', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    expect(await page.evaluate('scrollY')).toBeGreaterThan(1_000)
    await page.getByRole('complementary', { name: 'Filters' }).getByRole('button', { name: 'Part3 157' }).click()
    await page.getByText('157 logs', { exact: true }).waitFor()
    expect(await page.evaluate('scrollY')).toBe(0)
  })

  test('is read on while more of an earlier filter is still on its way', async () => {
    const page = await show()
    const late = Promise.withResolvers<void>()
    await page.route(/cursor=/, async (route) => {
      if (!route.request().url().includes('level=')) await late.promise
      await route.continue()
    })
    await page.getByRole('button', { name: 'Load older' }).scrollIntoViewIfNeeded()
    await page.getByRole('button', { name: 'Loading…' }).waitFor()
    await page.getByRole('group', { name: 'Levels' }).getByRole('button', { name: 'info' }).click()
    await page.getByText('1,078 logs', { exact: true }).waitFor()
    await toEnd(page)
    await eventually(async () => expect((await drawnRows(page)).at(-1)?.[0]).toBeGreaterThan(100))
    late.resolve()
  })

  test('counts what is there, not what is in sight', async () => {
    const page = await show()
    await page.getByText('1,100 logs', { exact: true }).waitFor()
    const levels = page.getByRole('group', { name: 'Levels' })
    expect(await levels.getByRole('button', { name: 'error' }).textContent()).toBe('error22')
    await eventually(async () => expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe('1101'))
  })

  test('begins at the other end just as well', async () => {
    const page = await show('/application-logs?order=asc')
    const last = all.toReversed()
    await eventually(async () => {
      const rows = await drawnRows(page)
      expect(rows.map(([, id]) => id)).toEqual(rows.map(([place]) => last[place]))
      await toEnd(page)
      return rows.at(-1)?.[0] === COUNT - 1
    }, 20_000)
  })

  test('keeps the focus on the button that loads more', async () => {
    const page = await show()
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route('**&cursor=**', async (route) => {
      ask()
      await released
      await route.continue()
    })
    const focus = () => page.evaluate('document.activeElement.textContent')
    await page.locator('.more button').focus()
    await asked
    await page.getByText('Loading…').waitFor()
    expect(await focus()).toBe('Loading…')
    release()
    await page.getByText('Load older').waitFor()
    expect(await focus()).toBe('Load older')
  })

  test('says what failed when more cannot be read, and goes on when it can', async () => {
    tolerate(/net::ERR_|Failed to load resource/)
    const page = await show()
    await page.route('**&cursor=**', (route) => route.abort())
    await toEnd(page)
    await page.getByText('More logs could not be read').waitFor()
    await page.unroute('**&cursor=**')
    await page.getByRole('button', { name: 'Load older' }).click()
    await eventually(async () => {
      await toEnd(page)
      expect((await drawnRows(page)).at(-1)?.[0]).toBeGreaterThan(150)
    })
  })

  describe('when the server is gone', () => {
    test('what is there stays, what is typed stays, and all goes on when it is back', async () => {
      tolerate(/net::ERR_|Failed to load resource|status of 50/)
      const page = await show('/application-logs?live=1')
      await page.locator('.tail.live').waitFor()
      const firstRows = async () => (await rowIds(page)).slice(0, 30)
      const before = await firstRows()
      await page.getByRole('combobox', { name: 'Search' }).fill('half a sear')
      await server.stop()
      await page.locator('.tail.away').waitFor()
      await page.getByRole('group', { name: 'Levels' }).getByRole('button', { name: 'error' }).click()
      await page.getByText('The server does not answer').first().waitFor()
      expect(await firstRows()).toEqual(before)
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

  test.each([1_440, 390])(
    'axe finds nothing, and nothing is wider than the screen (%d wide)',
    async (width) => {
      const path = '/application-logs?environment=Development'
      const size = { width, height: width === 390 ? 844 : 900 }
      const options = { path, key: LOGS_KEY, reducedMotion: true, ...size }
      const { page, axe } = await open(server.url, options)
      for (const [name, reach] of Object.entries(states)) {
        await page.goto(server.url + path)
        await page.locator('tr.log').first().waitFor()
        await page.getByText('1,100 logs', { exact: true }).waitFor()
        await reach(page)
        expect([name, await overflow(page), await axe()]).toEqual([name, 0, []])
      }
      // Each state is looked at in both themes, row by row.
    },
    120_000,
  )

  test.each([1_023, 1_024, 1_025])('the filters are beside the list or in a drawer, %d wide', async (width) => {
    const page = await show('/application-logs', { width })
    const filters = page.getByRole(width > 1_024 ? 'complementary' : 'button', { name: 'Filters' })
    await filters.waitFor()
    const shown = await Promise.all([
      page.getByRole('complementary', { name: 'Filters' }).isVisible(),
      page.getByRole('button', { name: 'Filters' }).isVisible(),
    ])
    expect(shown).toEqual([width > 1_024, width <= 1_024])
  })

  /** The names of those elements whose end is out of sight or below others. */
  const covered = (page: Page, selector: string): Promise<readonly string[]> =>
    page.evaluate(
      `[...document.querySelectorAll('${selector}')]
        .filter((one) => {
          const { right, top, height } = one.getBoundingClientRect()
          return !one.contains(document.elementFromPoint(right - 3, top + height / 2))
        })
        .map((one) => one.textContent || one.ariaLabel)`,
    )

  test.each([720, 800, 961])(
    'all pages can be chosen, and the header covers no head of others, %d wide',
    async (width) => {
      const page = await show('/application-logs', { width })
      await page.evaluate('scrollTo(0, 2000)')
      await eventually(async () => expect(await covered(page, '.nav a, thead button')).toEqual([]))
      await page.locator('tr.log .at button').nth(20).press('Enter')
      await page.getByRole('complementary', { name: 'Log', exact: true }).waitFor()
      expect(await covered(page, '.nav a, .entry .head button')).toEqual([])
    },
  )

  // A phone, and a window of 1,440 pixels at 200 %.
  test.each([
    [390, 664, 3],
    [720, 450, 2],
  ])(
    'at %i by %i pixels %i logs are in sight at first, and a chosen level moves none of them',
    async (width, height, count) => {
      const page = await show('/application-logs', { width, height })
      const ends = (): Promise<readonly number[]> =>
        page.evaluate('[...document.querySelectorAll("tr.log")].map((row) => row.getBoundingClientRect().bottom)')
      const before = await ends()
      expect(before[count - 1]).toBeLessThan(height)
      expect(await covered(page, '.segments button')).toEqual([])
      await page.getByRole('group', { name: 'Levels' }).getByRole('button', { name: 'info' }).click()
      await page.getByRole('button', { name: 'and above' }).click({ trial: true })
      expect(await ends()).toEqual(before)
    },
  )

  // A small phone, and windows of 1,360 and 1,440 pixels at 200 %.
  test.each([
    [320, 568],
    [680, 400],
    [720, 450],
  ])('at %i by %i pixels all views can be chosen, also beside a chosen level', async (width, height) => {
    const page = await show('/application-logs?level=Error', { width, height })
    await page.getByRole('button', { name: 'and above' }).waitFor()
    await page.locator('.histogram svg').waitFor()
    expect(await covered(page, '.segments button')).toEqual([])
  })

  test('the times below the counts do not overlap in a large font', async () => {
    const page = await show('/application-logs', { width: 1_280 })
    await page.locator('.times span').first().waitFor()
    await page.evaluate("document.documentElement.style.fontSize = '28px'")
    const overlapping = (): Promise<readonly string[]> =>
      page.evaluate(
        `(() => {
          const labels = [...document.querySelectorAll('.times span')]
          const places = labels.map((one) => one.getBoundingClientRect())
          return labels.filter((_, index) => places[index].right > places[index + 1]?.left).map((one) => one.textContent)
        })()`,
      )
    await eventually(async () => expect(await overlapping()).toEqual([]))
    expect(await page.locator('.times span').count()).toBeGreaterThan(2)
  })

  test('at 320 pixels the counts of all levels are in sight, with thousands of logs of three', async () => {
    const counts = { Trace: 1_620, Debug: 1_720, Information: 3_740, Warning: 82, Error: 42, Critical: 11 }
    const level = Object.entries(counts).map(([value, count]) => ({ value, count }))
    const page = await show('/application-logs', {
      width: 320,
      prepare: (one: Page) =>
        one.route(/\/choices/, async (route) => {
          const answer = await route.fetch()
          const { data } = await answer.json()
          await route.fulfill({ response: answer, json: { success: true, data: { ...data, level } } })
        }),
    })
    const levels = page.getByRole('group', { name: 'Levels' })
    await eventually(async () => expect(await levels.textContent()).toContain('3.74k'))
    expect(await levels.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0)
  })

  test('at 360 pixels the choice of all more severe levels covers no count', async () => {
    const page = await show('/application-logs', { width: 360, height: 664 })
    const levels = page.getByRole('group', { name: 'Levels' })
    await levels.getByRole('button', { name: 'error' }).click()
    const above = await levels.getByRole('button', { name: 'and above' }).boundingBox()
    const last = await levels.getByRole('button', { name: 'crit' }).boundingBox()
    expect((last?.x ?? 0) + (last?.width ?? 0)).toBeLessThanOrEqual(above?.x ?? 0)
    expect((above?.x ?? 0) + (above?.width ?? 0)).toBeLessThan(360)
  })

  test('at 390 pixels the filters are in a drawer, and an entry takes the whole screen', async () => {
    const page = await show('/application-logs', { width: 390, height: 844 })
    expect(await page.getByRole('complementary', { name: 'Filters' }).isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Filters' }).click()
    const drawer = page.getByRole('dialog', { name: 'Filters' })
    await drawer.getByRole('button', { name: 'Part3 157' }).click()
    await page.keyboard.press('Escape')
    await page.getByText('157 logs', { exact: true }).waitFor()
    await page.locator('tr.log .at button').first().press('Enter')
    const entry = page.getByRole('complementary', { name: 'Log', exact: true })
    // None where it is drawn anew in the same moment.
    await eventually(async () =>
      expect(await entry.boundingBox()).toMatchObject({ x: 0, y: 0, width: 390, height: 844 }),
    )
  })
})
