import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import {
  expectRows,
  LOGS_KEY,
  type LogsServer,
  overflow,
  paramsOf,
  QUIET_KEY,
  startLogsServer,
} from '../support/page-logs.ts'

const HOUR = 3_600_000
/** The beginning of a whole hour, so that a bucket of the chart holds known logs. */
const START = Math.floor(Date.now() / HOUR) * HOUR - 10 * HOUR
const at = (hours: number): string => new Date(START + hours * HOUR).toISOString()
/** Ten hours from the first log on; each of the buckets has eight minutes or less. */
const RANGE = `from=${at(0)}&to=${at(10)}`

const HOSTILE = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>"'\u202edesrever\u202c`

async function fill(server: LogsServer): Promise<void> {
  const requests = [1, 2, 3, 5, 6].flatMap((hours) => [
    { timestamp: at(hours), message: `slow ${hours}`, scopeData: { ms: hours * 1_000, tenant: 'acme', path: '/a' } },
    { timestamp: at(hours), message: `fast ${hours}`, scopeData: { ms: hours, tenant: HOSTILE, path: '/b' } },
  ])
  const huge = { timestamp: at(4), message: 'huge', scopeData: { [`n ${HOSTILE}`]: 1e99 } }
  await server.applications([...requests, huge])
  await server.event({ timestamp: at(1), payload: '{"total":12.5}' })
  await server.total('application', requests.length + 1)
  await server.total('event', 1)
}

describeWithBrowser('charts of logs', ({ open, tolerate }) => {
  let server: LogsServer
  beforeAll(async () => {
    server = await startLogsServer()
    await fill(server)
  }, 90_000)
  afterAll(() => server.close())

  const show = (query: string, options = {}) =>
    open(server.url, { path: `/application-logs?${query}`, key: LOGS_KEY, reducedMotion: true, ...options })
  const drawn = (page: Page) => page.getByRole('figure', { name: / of / })
  const slider = (page: Page) => page.getByRole('slider')
  const legend = async (page: Page): Promise<readonly string[]> => page.locator('.legend .series').allTextContents()
  const choose = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

  test('begin with the number of logs, offer names that have numbers, and the way back keeps the chart', async () => {
    const { page } = await show(RANGE)
    await choose(page, 'Chart')
    await eventually(async () => expect(await legend(page)).toEqual(['Number of logs11']))
    const offered = page.locator('.chart-bar .chip')
    await eventually(async () => expect(await offered.allTextContents()).toContain('scope.ms'))
    expect(await offered.allTextContents()).not.toContain('scope.tenant')
    await choose(page, 'scope.ms')
    await eventually(async () => expect(await legend(page)).toEqual(['Average of scope.ms3,003']))
    expect(paramsOf(page)).toMatchObject({ chart: 'avg', value: 'scope.ms' })
    await choose(page, 'List')
    await page.locator('tr.log').first().waitFor()
    expect(Object.keys(paramsOf(page))).toEqual(['from', 'to'])
    await choose(page, 'Chart')
    await drawn(page).waitFor()
    expect(paramsOf(page)).toMatchObject({ chart: 'avg', value: 'scope.ms' })
  })

  test('a link restores function, numbers and field; lines have gaps, marks and values, and go on and off', async () => {
    const { page } = await show(`${RANGE}&chart=max&value=scope.ms&by=scope.path`)
    await eventually(async () => expect((await legend(page)).toSorted()).toEqual(['/a6,000', '/b6']))
    expect(await page.getByLabel('Function').inputValue()).toBe('max')
    expect(await page.getByLabel('of', { exact: true }).inputValue()).toBe('scope.ms')
    expect(await page.getByLabel('by', { exact: true }).inputValue()).toBe('scope.path')
    expect(await drawn(page).getAttribute('aria-label')).toBe('Largest of scope.ms by scope.path')
    // An hour lies between two logs, and eight minutes at most are a point.
    const marks = await page.evaluate(
      '[...document.querySelectorAll(".lines .mark")].map((one) => one.getAttribute("d").match(/M/g).length)',
    )
    expect(marks).toEqual([5, 5])
    const ticks = page.locator('.values span:not(:first-child)')
    expect(await ticks.allTextContents()).toEqual(['0', '2,000', '4,000', '6,000'])
    await page.locator('.legend .series', { hasText: '/a' }).click()
    await eventually(async () => expect(await ticks.allTextContents()).toEqual(['0', '2', '4', '6']))
  })

  test('no two lines look the same, whatever was searched before', async () => {
    const searches = ['abcde', 'fghij', 'aklmn']
    await server.applications(
      searches.flatMap((categories, index) =>
        [...categories].map((categoryName) => ({ timestamp: at(-50), message: `search${index}`, categoryName })),
      ),
    )
    const { page } = await show(`from=${at(-51)}&to=${at(-49)}&chart=count&by=category`)
    for (const [index, categories] of searches.entries()) {
      await page.getByRole('combobox', { name: 'Search' }).fill(`search${index}`)
      await page.keyboard.press('Enter')
      await eventually(async () => expect((await legend(page)).map(([name]) => name).sort()).toEqual([...categories]))
    }
    const looks = await page.evaluate<readonly string[]>(
      '[...document.querySelectorAll(".swatch path")].map(({ attributes }) => [...attributes].map(({ value }) => value).join())',
    )
    expect(new Set(looks).size).toBe(5)
  })

  test('a line of a value leads to its logs alone, a group by its parameter', async () => {
    const { page } = await show(`${RANGE}&chart=max&value=scope.ms&by=scope.path`)
    await choose(page, 'Only /b')
    await eventually(async () => expect(await legend(page)).toEqual(['/b6']))
    expect(paramsOf(page)).toMatchObject({ q: 'scope.path:/b', chart: 'max', by: 'scope.path' })
    const { page: other } = await show(`${RANGE}&chart=count&by=template&q=fast`)
    await other.getByRole('button', { name: /^Only fast/ }).click()
    await eventually(() => expect(paramsOf(other)).toHaveProperty('template'))
  })

  test('the keyboard goes from point to point, tells the numbers, and shows the logs of one', async () => {
    const { page } = await show(`${RANGE}&chart=p95&value=scope.ms&by=scope.path`)
    await drawn(page).waitFor()
    await slider(page).focus()
    await page.keyboard.press('Home')
    const present = () => slider(page).getAttribute('aria-valuenow')
    await eventually(async () => expect(await present()).toBe('0'))
    expect(await slider(page).getAttribute('aria-valuetext')).toMatch(/, \/[ab]: –, \/[ab]: –$/)
    const most = Number(await slider(page).getAttribute('aria-valuemax'))
    for (let step = 0; step < most; step += 1) {
      if (/: 2,000/.test(`${await slider(page).getAttribute('aria-valuetext')}`)) break
      await page.keyboard.press('ArrowRight')
    }
    expect(await slider(page).getAttribute('aria-valuetext')).toMatch(/\/a: 2,000/)
    await eventually(async () => expect((await legend(page)).toSorted()).toEqual(['/a2,000', '/b2']))
    await page.keyboard.press('Enter')
    await expectRows(page, ['fast 2', 'slow 2'])
    const { from = '', to = '', ...others } = paramsOf(page)
    expect(others).toEqual({})
    expect([from <= at(2), at(2) < to]).toEqual([true, true])
    await page.goBack()
    await drawn(page).waitFor()
  })

  test('the keyboard goes on from the point where the pointer rests', async () => {
    const { page } = await show(`${RANGE}&chart=max&value=scope.ms`)
    await drawn(page).locator('.lines svg').hover()
    const present = async () => Number(await slider(page).getAttribute('aria-valuenow'))
    const at = await present()
    await slider(page).focus()
    for (const step of [1, 2]) {
      await page.keyboard.press('ArrowLeft')
      await eventually(async () => expect(await present()).toBe(at - step))
    }
  })

  test('a click shows the logs of a point, a drag draws its range', async () => {
    const { page } = await show(`${RANGE}&chart=count`)
    const times = drawn(page).locator('.times')
    const all = await times.textContent()
    const moveTo = async (part: number): Promise<void> => {
      const { x = 0, y = 0, width = 0 } = (await drawn(page).locator('.lines svg').boundingBox()) ?? {}
      await page.mouse.move(x + part * width, y + 20)
    }
    await moveTo(0.05)
    await page.mouse.down()
    await moveTo(0.35)
    await page.mouse.up()
    await eventually(async () => expect(await times.textContent()).not.toBe(all))
    expect(paramsOf(page)).toMatchObject({ chart: 'count' })
    await page.goBack()
    // Until they are there, a click is one of the range before.
    await eventually(async () => expect(await times.textContent()).toBe(all))
    await moveTo(0.303)
    await page.mouse.down()
    await page.mouse.up()
    await expectRows(page, ['fast 3', 'slow 3'])
    expect(paramsOf(page)).not.toHaveProperty('chart')
  })

  test('a table says the same, and leads to the logs', async () => {
    const { page } = await show(`${RANGE}&chart=max&value=scope.ms`)
    await drawn(page).getByRole('button', { name: 'As a table' }).click()
    const table = drawn(page).getByRole('table')
    expect(await table.getByRole('columnheader').allTextContents()).toEqual(['From', 'Largest of scope.ms'])
    expect(await table.locator('td.num').allTextContents()).toEqual(['1,000', '2,000', '3,000', '5,000', '6,000'])
    await table.getByRole('button').nth(1).click()
    await expectRows(page, ['fast 2', 'slow 2'])
  })

  test('a table has the spans whose number is zero', async () => {
    await server.event({ timestamp: at(2), payload: '{"left":0}' })
    await server.event({ timestamp: at(3), payload: '{"left":4}' })
    await server.total('event', 3)
    const { page } = await open(server.url, {
      path: `/event-logs?${RANGE}&chart=max&value=payload.left`,
      key: LOGS_KEY,
    })
    await drawn(page).getByRole('button', { name: 'As a table' }).click()
    expect(await drawn(page).locator('td.num').allTextContents()).toEqual(['0', '4'])
  })

  test('a log has a way to the chart of a number of its own', async () => {
    const { page } = await show(`${RANGE}&q="slow 6"`)
    await page.locator('tr.log .text').click()
    const row = page.getByRole('table', { name: 'Values of the scopes' }).getByRole('row')
    await row.filter({ hasText: '6000' }).hover()
    await page.getByRole('button', { name: 'Chart scope.ms over time' }).click()
    await eventually(async () => expect(await legend(page)).toEqual(['Average of scope.ms6,000']))
    expect(paramsOf(page)).toMatchObject({ chart: 'avg', value: 'scope.ms', q: '"slow 6"' })
  })

  test('a log has a way to how many logs have each value, as of a release', async () => {
    const { page } = await show(`${RANGE}&level=Information`)
    await page.locator('tr.log', { hasText: 'slow 6' }).locator('.text').click()
    await page.getByRole('button', { name: 'Count the values of scope.path over time' }).press('Enter')
    await eventually(async () => expect(await legend(page)).toEqual(['/a5', '/b5']))
    const { id: _, ...params } = paramsOf(page)
    expect(params).toEqual({ from: at(0), to: at(10), level: 'Information', chart: 'count', by: 'scope.path' })
  })

  test('a saved search restores the chart', async () => {
    const params = { chart: 'max', value: 'scope.ms', by: 'scope.path', from: at(0), to: at(10) }
    const saved = { name: 'Slowest', page: 'application-logs', params }
    expect((await server.client.post('/api/team/searches', saved)).success).toBe(true)
    const { page } = await show(RANGE)
    await choose(page, 'Saved')
    await page.getByRole('link', { name: 'Slowest' }).click()
    await drawn(page).waitFor()
    expect(paramsOf(page)).toEqual(params)
  })

  test('of event logs are of their payloads; a name is completed with its family', async () => {
    const { page } = await open(server.url, { path: `/event-logs?${RANGE}&chart=avg`, key: LOGS_KEY })
    await page.getByText('Choose the numbers that avg is of.').waitFor()
    await page.getByLabel('of', { exact: true }).fill('total')
    await page.keyboard.press('Enter')
    await eventually(async () => expect(await legend(page)).toEqual(['Average of payload.total12.5']))
  })

  describe('that have nothing to draw', () => {
    test('say that there is no number of the name, and name others', async () => {
      const { page } = await show(`${RANGE}&chart=avg&value=scope.tenant`)
      await page.getByRole('heading', { name: 'No number at scope.tenant in this time' }).waitFor()
      await page.locator('.empty').getByRole('button', { name: 'scope.ms' }).click()
      await eventually(async () => expect(await legend(page)).toEqual(['Average of scope.ms3,003']))
    })

    test('say that no log has the field besides, and how to go on without', async () => {
      const { page } = await show(`${RANGE}&chart=avg&value=scope.ms&by=scope.nothing`)
      await page
        .getByRole('heading', { name: 'No log in this time has both a number at scope.ms and scope.nothing' })
        .waitFor()
      await page.getByRole('button', { name: 'Without “by scope.nothing”' }).click()
      await drawn(page).waitFor()
    })

    test('say why there are no logs, as the list does', async () => {
      const { page } = await show(`${RANGE}&chart=avg&value=scope.ms&q=nothing-has-this`)
      await page.getByRole('heading', { name: 'Nothing matches' }).waitFor()
      const { page: quiet } = await show('chart=count', { key: QUIET_KEY })
      await quiet.getByRole('heading').nth(1).waitFor()
      expect(await quiet.locator('.chart').count()).toBe(0)
    })

    test('show a refusal in the words of the API', async () => {
      tolerate(/400|422/)
      const { page } = await show(`${RANGE}&chart=avg&value=scope.ms&by=message`)
      await page.getByRole('alert').filter({ hasText: 'by' }).waitFor()
      expect(await page.getByRole('alert').allTextContents()).toContainEqual(
        expect.stringContaining('must be template'),
      )
    })
  })

  test('one bucket and huge numbers are drawn; names and values of logs stay text', async () => {
    const { page } = await show(`from=${at(4)}&to=${new Date(START + 4 * HOUR + 1).toISOString()}&chart=max`)
    await page.locator('.chart-bar .chip').click()
    await eventually(async () => expect(await page.locator('.legend b').allTextContents()).toEqual(['1e99']))
    expect(await slider(page).getAttribute('aria-valuemax')).toBe('0')
    const { page: other } = await show(`${RANGE}&chart=max&value=scope.ms&by=scope.tenant`)
    await other.locator('.legend bdi').nth(1).waitFor()
    await drawn(other).getByRole('button', { name: 'As a table' }).click()
    for (const one of [page, other])
      expect(
        await one.evaluate(`({
          ran: window.ran,
          elements: document.querySelectorAll('main img, main script').length,
          wide: document.documentElement.scrollWidth - innerWidth,
          controls: /[\\u202a-\\u202e]/.test(document.querySelector('main').innerText),
        })`),
      ).toEqual({ ran: undefined, elements: 0, wide: 0, controls: false })
  })

  test('follow new logs while the list is live', async () => {
    const { page } = await show('from=now-1h&chart=count&live=1&q=newcomer')
    await page.getByRole('heading', { name: 'Nothing matches' }).waitFor()
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
    await server.application({ message: 'newcomer' })
    await drawn(page).waitFor({ timeout: 30_000 })
  }, 60_000)

  test('that one opens by a link read no list, which is read once it is shown', async () => {
    const limits: (string | null)[] = []
    const { page } = await open(server.url, {
      path: `/application-logs?${RANGE}&chart=count&order=asc`,
      key: LOGS_KEY,
      prepare: async (opened) =>
        void opened.on('request', (request) => {
          const { pathname, searchParams } = new URL(request.url())
          if (pathname === '/api/application-logs') limits.push(searchParams.get('limit'))
        }),
    })
    await drawn(page).locator('.lines svg').waitFor()
    expect(limits).toEqual(['1'])
    await choose(page, 'List')
    await page.locator('tr.log').nth(1).waitFor()
    await choose(page, 'Chart')
    await drawn(page).locator('.lines svg').waitFor()
    expect(limits).toEqual(['1', '100'])
  })

  test('a finger reads a point first, and shows its logs by a second touch', async () => {
    const { page } = await show(`${RANGE}&chart=max&value=scope.ms`, { width: 390 })
    const svg = drawn(page).locator('.lines svg')
    await svg.waitFor()
    const touch = async () => {
      for (const name of ['pointerdown', 'pointerup'])
        await page.evaluate(`{
          const svg = document.querySelector('.lines svg')
          svg.setPointerCapture = () => undefined
          const { left, width } = svg.getBoundingClientRect()
          svg.dispatchEvent(new PointerEvent('${name}', { pointerType: 'touch', clientX: left + 0.203 * width }))
        }`)
    }
    await touch()
    await eventually(async () => expect(await legend(page)).toEqual(['Largest of scope.ms2,000']))
    await touch()
    await expectRows(page, ['fast 2', 'slow 2'])
  })

  /** The page after the part with the charts could not be loaded; it can be from then on. */
  async function showUnloaded(): Promise<Page> {
    tolerate(/counted-views/)
    const { page } = await show(RANGE)
    await page.route(/counted-views/, (route) => route.abort())
    await choose(page, 'Chart')
    await page.getByText('This part of the page could not be loaded.').waitFor()
    await page.unroute(/counted-views/)
    return page
  }

  test('that cannot be loaded, as the server is another version by now, say so', async () => {
    const page = await showUnloaded()
    await choose(page, 'Load the page again')
    await drawn(page).waitFor()
  })

  test('that a server of another version does not have are asked for once', async () => {
    tolerate(/counted-views/)
    const { page } = await show(RANGE)
    const asked: string[] = []
    await page.route(/counted-views/, (route) => {
      asked.push(route.request().url())
      return route.fulfill({ status: 404 })
    })
    await page.route(/[/]$/, (route) => route.fulfill({ body: '<script src="/assets/index-other.js"></script>' }))
    await page.clock.install()
    await choose(page, 'Chart')
    await page.getByText('This part of the page could not be loaded.').waitFor()
    await page.clock.runFor(60_000)
    // All requests so far are known once this one is answered.
    await page.evaluate('fetch("/").then((answer) => answer.text())')
    expect(asked).toHaveLength(1)
  })

  test('that cannot be loaded, as the server is away, is drawn once it is back', async () => {
    const page = await showUnloaded()
    await drawn(page).waitFor()
  })

  test('that end now fade where their time is not over, and say so; those of whole spans do not', async () => {
    const { page } = await show('from=now-24h&chart=count')
    await slider(page).focus()
    await page.keyboard.press('End')
    expect(await slider(page).getAttribute('aria-valuetext')).toMatch(/, not over yet, Number of logs: /)
    await drawn(page).locator('figcaption').getByText('not over yet').waitFor()
    const faded = page.locator('figure .fade')
    // Both ends of the counts and of the chart: the range begins within a span as well.
    expect(await faded.count()).toBe(4)
    const { page: whole } = await show(`${RANGE}&chart=count`)
    await slider(whole).focus()
    await drawn(whole).locator('figcaption').getByText('–').waitFor()
    expect(await whole.locator('figure .fade').count()).toBe(0)
    expect(await slider(whole).getAttribute('aria-valuetext')).not.toContain('not over yet')
  })

  test('the file of a list has the columns that it shows', async () => {
    const { page } = await show(`${RANGE}&q=slow&columns=level,scope.ms,category,message`)
    await page.getByRole('button', { name: 'Export and share' }).click()
    const href = await page.getByRole('link', { name: 'Export as CSV, the columns shown' }).getAttribute('href')
    const answer = await page.request.get(new URL(`${href}`, page.url()).href)
    expect((await answer.text()).split('\r\n').slice(0, 2)).toEqual([
      '\uFEFFtimestamp,level,scope.ms,categoryName,message',
      `${at(6)},Information,6000,Acme.Shop.Cart,slow 6`,
    ])
  })

  test('are compared with the time of the same length before, also after a look at the list', async () => {
    const { page } = await show(`from=${at(5)}&to=${at(10)}&chart=count`)
    await choose(page, 'Compare with 5 h earlier')
    const compared = ['Number of logs4', '5 h earlier7']
    await eventually(async () => expect(await legend(page)).toEqual(compared))
    // The logs of hour 6 and those of hour 1 are at the same point.
    await drawn(page).getByRole('button', { name: 'As a table' }).click()
    const rows = drawn(page).getByRole('row')
    await eventually(async () =>
      expect((await rows.allTextContents()).filter((text) => /2 ?2$/.test(text))).toHaveLength(1),
    )
    await choose(page, 'List')
    await expectRows(page, ['fast 6', 'slow 6', 'fast 5', 'slow 5'])
    expect(paramsOf(page)).not.toHaveProperty('before')
    await choose(page, 'Chart')
    await eventually(async () => expect(await legend(page)).toEqual(compared))
    await choose(page, 'Compare with 5 h earlier')
    await eventually(async () => expect(await legend(page)).toEqual(compared.slice(0, 1)))
  })

  test('are compared line by line, each value with itself, and with a week before', async () => {
    const { page } = await show(`from=${at(5)}&to=${at(10)}&chart=count&by=scope.path`)
    const now = ['/a2', '/b2']
    await eventually(async () => expect((await legend(page)).toSorted()).toEqual(now))
    await choose(page, 'Compare with 5 h earlier')
    const compared = ['/a2', '/b2', '5 h earlier: /a3', '5 h earlier: /b3']
    await eventually(async () => expect((await legend(page)).toSorted()).toEqual(compared))
    const looks = await page.evaluate<readonly string[]>(
      '[...document.querySelectorAll(".swatch path")].map(({ attributes }) => [...attributes].map(({ value }) => value).join())',
    )
    expect(new Set(looks).size).toBe(4)
    expect(await page.getByRole('button', { name: /^Only / }).count()).toBe(2)
    await choose(page, '5 h earlier: /a 3')
    await choose(page, 'Compare with 7 d earlier')
    const week = ['/a2', '/b2', '7 d earlier: /a0', '7 d earlier: /b0']
    await eventually(async () => expect((await legend(page)).toSorted()).toEqual(week))
    expect(paramsOf(page)).toMatchObject({ before: 'week' })
    await choose(page, 'Compare with 7 d earlier')
    await eventually(async () => expect((await legend(page)).toSorted()).toEqual(now))
    // A week before that of a whole week would be the same.
    const { page: weekly } = await show(`from=${at(10 - 7 * 24)}&to=${at(10)}&chart=count`)
    await weekly.getByRole('button', { name: 'Compare with 7 d earlier' }).waitFor()
    expect(await weekly.getByRole('button', { name: /^Compare with/ }).count()).toBe(1)
  })

  test('of levels have the colours of levels', async () => {
    const { page } = await show(`${RANGE}&chart=count&by=level`)
    await eventually(async () => expect(await legend(page)).toEqual(['Information11']))
    expect(await page.locator('.swatch path').getAttribute('stroke')).toBe('var(--level-info)')
  })

  test.each([1_440, 390])('axe finds nothing, and nothing is wider than the screen (%d wide)', async (width) => {
    const { page, axe } = await show(`${RANGE}&chart=p95&value=scope.ms&by=scope.path`, {
      ...{ width, height: 900 },
    })
    await drawn(page).waitFor()
    await slider(page).focus()
    await drawn(page).getByRole('button', { name: 'As a table' }).click()
    expect([await overflow(page), await axe()]).toEqual([0, []])
  })
})
