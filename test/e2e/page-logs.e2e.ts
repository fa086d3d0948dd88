import { readFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LEVELS } from '../../shared/contract/levels.ts'
import type { Choices } from '../../views/schemas/answers.ts'
import { accepted } from '../support/api.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { READER_ZONE } from '../support/open-page.ts'
import {
  copied,
  expectRows,
  LOGS_KEY,
  type LogsServer,
  PROJECT,
  paramsOf,
  QUIET_KEY,
  STORE_AWAY,
  startLogsServer,
} from '../support/page-logs.ts'

const MINUTE = 60_000
const NOW = Date.now()
const ago = (minutes: number): string => new Date(NOW - minutes * MINUTE).toISOString()

const EXCEPTION = `System.InvalidOperationException: Invoice 4711 could not be sent
 ---> System.Net.Sockets.SocketException (111): Connection refused
   at System.Net.Sockets.Socket.Connect(EndPoint remote)
   at System.Net.Sockets.Socket.ConnectAsync()
   --- End of inner exception stack trace ---
   at Acme.Billing.Invoices.Send(Invoice invoice) in /src/Invoices.cs:line 87
   at Microsoft.Extensions.Hosting.Host.StartAsync()`

/** Everything that the tests below look at; each finds its own by a word of its own. */
async function fill(server: LogsServer): Promise<void> {
  const step = (name: string) => `order-placed.${name}`
  const events = [
    { payload: 'accepted', timestamp: ago(50), correlationKey: 'order-1' },
    {
      uniqueIdentifier: step('validate'),
      payload: '{"order":{"id":12345678901234567890},"valid":true}',
      timestamp: ago(40),
      correlationKey: 'order-1',
    },
    {
      uniqueIdentifier: step('charge'),
      payload: 'card declined',
      level: 'Error',
      timestamp: ago(30),
      correlationKey: 'order-1',
      environment: 'Production',
    },
    {
      uniqueIdentifier: step('charge'),
      payload: 'card charged',
      level: 'Warning',
      timestamp: ago(20),
      correlationKey: 'order-2',
      environment: 'Production',
    },
    { uniqueIdentifier: 'probe', payload: 'probed', level: 'Debug', timestamp: ago(10) },
  ]
  for (const one of events) await server.event(one)
  const scopes = [
    {
      Message: 'RequestPath:/orders',
      '{OriginalFormat}': 'RequestPath:{RequestPath}',
      RequestPath: '/orders',
      tenant: 'outer',
    },
    { tenant: 'acme' },
  ]
  await server.applications([
    { categoryName: 'Microsoft.Hosting.Lifetime', message: 'started', timestamp: ago(45) },
    { categoryName: 'Acme.Shop.Cart', message: 'cart opened', timestamp: ago(35), scopeData: { Scopes: scopes } },
    {
      categoryName: 'Acme.Shop.Payments.Client',
      message: 'asked the bank',
      timestamp: ago(25),
      eventId: 1001,
      eventName: 'BankAsked',
    },
    {
      categoryName: 'Acme.Billing.Invoices',
      message: 'not sent',
      level: 'Error',
      timestamp: ago(15),
      exception: EXCEPTION,
      correlationKey: 'order-1',
    },
  ])
  await server.total('event', 5)
  await server.total('application', 4)
}

const EVENTS = ['probed', 'card charged', 'card declined', 'order.id=12345678901234567890 valid=true', 'accepted']

describeWithBrowser('the log lists', ({ open, team, tolerate }) => {
  let server: LogsServer
  beforeAll(async () => {
    server = await startLogsServer()
    await fill(server)
  }, 90_000)
  afterAll(async () => {
    await server.close()
  })

  const show = async (path: string, options = {}): Promise<Page> => {
    const { page, context } = await open(server.url, { path, key: LOGS_KEY, reducedMotion: true, ...options })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page
      .getByText(/\d logs?$/)
      .first()
      .waitFor()
    return page
  }
  const search = async (page: Page, text: string): Promise<void> => {
    await page.getByRole('combobox', { name: 'Search' }).fill(text)
    await page.keyboard.press('Enter')
  }
  const row = (page: Page, text: string) => page.locator('tr.log', { hasText: text })

  describe('the counts', () => {
    const part = /\/(choices|histogram)\?/

    test('that cannot be read are not those of the filter before, and are read again', async () => {
      tolerate(/status of 503/)
      const page = await show('/event-logs')
      const counts = page.getByRole('region', { name: 'Counts' })
      await page.route(part, (route) => route.fulfill(STORE_AWAY))
      await counts.getByRole('button', { name: 'error' }).click()
      await counts.getByRole('alert').getByText('could not answer').waitFor()
      await expectRows(page, ['card declined'])
      expect(await counts.getByText(/\d logs?$/).count()).toBe(0)
      await page.unroute(part)
      await counts.getByRole('button', { name: 'Try again' }).click()
      await counts.getByText('1 log', { exact: true }).waitFor()
      expect(await counts.getByRole('alert').count()).toBe(0)
    })

    test('that take long fade, as they are those of the filter before', async () => {
      const page = await show('/event-logs')
      const opacity = (): Promise<string> => page.evaluate('getComputedStyle(document.querySelector(".found")).opacity')
      const { promise: held, resolve: release } = Promise.withResolvers<void>()
      await page.route(part, async (route) => {
        await held
        await route.continue()
      })
      await page.getByRole('group', { name: 'Levels' }).getByRole('button', { name: 'error' }).click()
      await eventually(async () => expect(await opacity()).toBe('0.5'))
      release()
      await page.getByText('1 log', { exact: true }).waitFor()
      await eventually(async () => expect(await opacity()).toBe('1'))
    })
  })

  test.each([
    ['rows', '', '.log-table', /\/event-logs\?/],
    ['groups', 'group=step', '.groups', /\/groups\?/],
    ['a chart', 'chart=count', 'figure.chart', /\/series\?/],
  ])('%s that take long fade, as they are those of the filter before', async (_name, view, shown, asked) => {
    const page = await show(`/event-logs?${view}`)
    await page.locator(shown).waitFor()
    const opacity = (): Promise<string> => page.locator(shown).evaluate((one) => getComputedStyle(one).opacity)
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    await page.route(
      (url) => asked.test(url.href) && url.pathname.startsWith('/api/'),
      async (route) => {
        await held
        await route.continue()
      },
    )
    await page.getByRole('group', { name: 'Levels' }).getByRole('button', { name: 'error' }).click()
    await eventually(async () => expect(await opacity()).toBe('0.5'))
    release()
    await eventually(async () => expect(await opacity()).toBe('1'))
  })

  describe('the rows', () => {
    test('are newest first, with time to the millisecond, level, source and flow', async () => {
      const page = await show('/event-logs')
      await expectRows(page, EVENTS)
      const cells = await row(page, 'card declined').locator('td').allTextContents()
      const time = new Date(ago(30)).toLocaleTimeString('en-GB', {
        timeZone: READER_ZONE,
        ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 },
      })
      expect(cells).toEqual([time, 'error', 'Production', 'Charge', 'card declined', 'order-1'])
      const [one, two, other] = await page.evaluate<readonly string[]>(
        '["order-1", "order-2"].flatMap((key) => [...document.querySelectorAll("tr.log .key a")].filter((link) => link.textContent === key).map((link) => link.querySelector("i").style.getPropertyValue("--hue"))).filter((hue, index) => index !== 1)',
      )
      expect(one).toBe(two)
      expect(other).not.toBe(one)
    })

    test('are those of the search in the address, also when the answer to the one before comes right after it', async () => {
      const page = await show('/event-logs')
      await page.evaluate(`
        const { fetch } = window
        const search = (q) => {
          history.pushState(null, '', '?q=' + q)
          dispatchEvent(new PopStateEvent('popstate'))
        }
        window.fetch = async (...request) => {
          const response = await fetch(...request)
          if (!/\\/event-logs\\?.*q=declined/.test(response.url)) return response
          const text = await response.text()
          await new Promise((resolve) => {
            window.answerLate = () => {
              search('charged')
              resolve()
            }
          })
          return { status: response.status, headers: response.headers, text: async () => text }
        }
        search('declined')
      `)
      await eventually(() => page.evaluate<boolean>('"answerLate" in window'))
      const answered = page.waitForResponse(/event-logs\?.*q=charged/)
      await page.evaluate('answerLate()')
      await (await answered).finished()
      await expectRows(page, ['card charged'])
    })

    test('stay where they are when the counts over time come', async () => {
      const { promise: counted, resolve: count } = Promise.withResolvers<void>()
      const prepare = (page: Page) =>
        page.route(/\/histogram\?/, async (route) => {
          await counted
          await route.continue()
        })
      const page = await show('/event-logs', { prepare })
      const place = async () => (await row(page, 'card declined').boundingBox())?.y
      const before = await place()
      expect(await page.locator('.histogram rect').count()).toBe(0)
      count()
      await page.locator('.histogram rect').first().waitFor()
      expect(await place()).toBe(before)
    })

    test('of an application show number and name of the event, and the exception', async () => {
      const page = await show('/application-logs')
      await expectRows(page, [
        'not sent InvalidOperationException: Invoice 4711 could not be sent',
        '[1001 BankAsked] asked the bank',
        'cart opened',
        'started',
      ])
      const cells = await row(page, 'asked the bank').locator('td').allTextContents()
      expect(cells.slice(2, 5)).toEqual(['Development', 'Checkout API', 'Payments.Client'])
    })

    test('keep their columns whatever is among them; what is chosen is none', async () => {
      const page = await show('/application-logs')
      const heads = () => page.locator('.log-table th').allTextContents()
      await eventually(async () =>
        expect(await heads()).toEqual(['Time ', 'Level', 'Environment', 'Project', 'Category', 'Message', 'Flow']),
      )
      await page.goto(`${server.url}/application-logs?environment=Development&project=${PROJECT}`)
      await row(page, 'started').waitFor()
      expect(await heads()).toEqual(['Time ', 'Level', 'Category', 'Message', 'Flow'])
    })

    test('leave most room to the message in any window, and more where no log has a flow', async () => {
      const page = await show('/application-logs')
      const widthOf = async (name: string): Promise<number> =>
        (await page.locator(`tr.log td.${name}`).first().boundingBox())?.width ?? 0
      // The first is that of a window beside an editor, or of one of 1,280 pixels at 200 %.
      for (const width of [640, 900, 1_024, 1_280, 1_440]) {
        await page.setViewportSize({ width, height: 900 })
        expect(await widthOf('text')).toBeGreaterThan(400)
      }
      const [text, key] = [await widthOf('text'), await widthOf('key')]
      await search(page, 'cart')
      await expectRows(page, ['cart opened'])
      expect(await widthOf('key')).toBeLessThan(key / 2)
      expect(await widthOf('text')).toBeGreaterThan(text)
    })

    test('stay where they are when a level is chosen, and so do the views when another one is', async () => {
      // The counts of a Team that is as busy as most.
      const prepare = (page: Page) =>
        page.route(/\/choices\?/, async (route) => {
          const answer = await route.fetch()
          const { data } = (await answer.json()) as { data: Choices }
          const level = LEVELS.map((value) => ({ value, count: 38_900 }))
          await route.fulfill({ json: { success: true, data: { ...data, level, total: 238_900 } } })
        })
      const { page } = await open(server.url, { key: LOGS_KEY, path: '/application-logs', width: 1_280, prepare })
      const placeOf = async (part: Locator) => (await part.boundingBox()) ?? { x: -1, y: -1 }
      const list = page.getByRole('region', { name: 'List' })
      await page.locator('.levels').getByText('38.9k').first().waitFor()
      const before = await placeOf(list)
      await page.getByTitle('Only Error').click()
      await page.getByText('and above').waitFor()
      await expectRows(page, ['not sent InvalidOperationException: Invoice 4711 could not be sent'])
      expect((await placeOf(list)).y).toBe(before.y)
      const view = page.getByRole('button', { name: 'Exceptions' })
      const { x } = await placeOf(view)
      await view.click()
      await page.locator('.groups a').waitFor()
      expect((await placeOf(view)).x).toBe(x)
    })

    test('have levels that stay where they are while their counts grow', async () => {
      const { page } = await open(server.url, { key: LOGS_KEY })
      let count = 7
      await page.route(/\/choices\?/, async (route) => {
        const answer = await route.fetch()
        const { data } = (await answer.json()) as { data: Choices }
        const level = LEVELS.map((value) => ({ value, count }))
        await route.fulfill({ json: { success: true, data: { ...data, level } } })
      })
      const levels = page.getByRole('group', { name: 'Levels' })
      const places: unknown[] = []
      for (const [next, text] of [
        [7, '7'],
        [99_900, '99.9k'],
      ] as const) {
        count = next
        await page.goto(`${server.url}/application-logs`)
        await levels.getByText(text, { exact: true }).nth(5).waitFor()
        places.push(await levels.getByRole('button', { name: 'crit' }).boundingBox())
      }
      expect(places[1]).toEqual(places[0])
    })

    test('say level and text to those who walk through them without seeing them', async () => {
      const page = await show('/event-logs')
      const said = () =>
        page.evaluate<string>(
          'document.activeElement.getAttribute("aria-describedby").split(" ").map((id) => document.getElementById(id).textContent).join(": ")',
        )
      await page.keyboard.press('j')
      await eventually(async () => expect(await said()).toBe('debug: probed'))
      await page.keyboard.press('j')
      await eventually(async () => expect(await said()).toBe('warn: card charged'))
    })

    test('have levels with an edge in high contrast, a dashed one where their logs are left out', async () => {
      const page = await show('/event-logs?level=Warning')
      await page.emulateMedia({ forcedColors: 'active' })
      const edges = page
        .locator('.levels button')
        .evaluateAll((all) => all.map((each) => `${getComputedStyle(each).borderTopStyle}`))
      expect(await edges).toEqual(['dashed', 'dashed', 'dashed', 'solid', 'solid', 'solid', 'solid'])
    })

    test('are copied as a line each, from the time on', async () => {
      const page = await show('/event-logs')
      const [first, last] = [
        await row(page, 'card charged').locator('.at').boundingBox(),
        await row(page, 'card declined').locator('.text').boundingBox(),
      ]
      if (first === null || last === null) throw new Error('the rows are not drawn')
      await page.mouse.move(first.x + 30, first.y + 12)
      await page.mouse.down()
      await page.mouse.move(last.x + 60, last.y + 8, { steps: 5 })
      await page.mouse.up()
      await page.keyboard.press('Control+c')
      const lines = (await copied(page)).split('\n')
      expect(lines).toHaveLength(2)
      expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}warn {2}Production {2}Charge {2}card charged {2}order-2$/)
      expect(await page.locator('tr.detail').count()).toBe(0)
    })

    test('turn round, in the address as well', async () => {
      const page = await show('/event-logs')
      await page.getByRole('button', { name: 'Time', exact: true }).click()
      await expectRows(page, EVENTS.toReversed())
      expect(paramsOf(page)).toEqual({ order: 'asc' })
    })

    test('a key leads to its flow', async () => {
      const page = await show('/event-logs')
      await row(page, 'accepted').getByRole('link').click()
      await page.waitForURL('**/flows/order-1')
    })

    test('expand in place, several at a time, and fold again', async () => {
      const page = await show('/event-logs')
      await row(page, 'card declined').locator('.text').click()
      await row(page, 'accepted').locator('.text').click()
      expect(await page.locator('tr.detail').count()).toBe(2)
      await expect(row(page, 'accepted').getByRole('button').getAttribute('aria-expanded')).resolves.toBe('true')
      await page.keyboard.press('Escape')
      await eventually(async () => expect(await page.locator('tr.detail').count()).toBe(0))
    })
  })

  describe('the search', () => {
    test('offers fields and values, and is done with the keyboard alone', async () => {
      const page = await show('/event-logs')
      await page.keyboard.press('/')
      await page.keyboard.type('env')
      await page.keyboard.press('Tab')
      const options = page.getByRole('listbox').getByRole('option')
      await eventually(async () => expect(await options.count()).toBe(2))
      expect(await options.first().textContent()).toContain('Development')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.keyboard.press('Enter')
      await expectRows(page, ['card charged', 'card declined'])
      expect(paramsOf(page)).toEqual({ q: 'environment:Production' })
    })

    test('offers the names that the payloads have', async () => {
      const page = await show('/event-logs')
      await page.getByRole('combobox', { name: 'Search' }).pressSequentially('payload.or')
      await page.getByRole('option', { name: 'payload.order.id' }).waitFor()
    })

    test('asks what can come once typing rests, not at every letter', async () => {
      const page = await show('/event-logs')
      const asked: string[] = []
      page.on('request', (request) => {
        const url = new URL(request.url())
        if (url.pathname.endsWith('/completion')) asked.push(url.searchParams.get('q') ?? '')
      })
      await page.clock.install()
      await page.clock.pauseAt(Date.now() + MINUTE)
      await page.getByRole('combobox', { name: 'Search' }).pressSequentially('payload.or')
      await page.clock.runFor(1_000)
      await page.clock.resume()
      await page.getByRole('option', { name: 'payload.order.id' }).waitFor()
      expect(asked).toEqual(['payload.or'])
    })

    test('is asked for anew on Enter, though it is the same', async () => {
      const page = await show('/event-logs?q=probed')
      await expectRows(page, ['probed'])
      const asked = page.waitForRequest(/event-logs[?]q=probed/)
      await page.getByRole('combobox', { name: 'Search' }).press('Enter')
      await asked
      await expectRows(page, ['probed'])
    })

    test('an arrow that is pressed before the choices are there spoils neither them nor Enter', async () => {
      const page = await show('/event-logs')
      const held = Promise.withResolvers<void>()
      await page.route('**/completion?*', async (route) => {
        await held.promise
        await route.continue()
      })
      const box = page.getByRole('combobox', { name: 'Search' })
      await box.fill('environment:')
      await box.press('ArrowDown')
      held.resolve()
      const options = page.getByRole('listbox').getByRole('option')
      await eventually(async () => expect(await options.count()).toBe(2))
      await box.press('ArrowDown')
      await expect(options.first().getAttribute('aria-selected')).resolves.toBe('true')
      await box.press('ArrowDown')
      await box.press('Enter')
      await box.press('Enter')
      await expectRows(page, ['card charged', 'card declined'])
    })

    test('leaves the keys to an input method that composes a text', async () => {
      const page = await show('/event-logs')
      const box = page.getByRole('combobox', { name: 'Search' })
      await box.focus()
      const devtools = await page.context().newCDPSession(page)
      await devtools.send('Input.imeSetComposition', { text: 'payload.or', selectionStart: 10, selectionEnd: 10 })
      await page.getByRole('option', { name: 'payload.order.id' }).waitFor()
      await page.keyboard.press('ArrowDown')
      expect(await box.getAttribute('aria-activedescendant')).toBeNull()
    })

    test('the syntax is looked up in place and taken from there', async () => {
      const page = await show('/event-logs')
      await page.getByRole('button', { name: 'How to search' }).click()
      await page.getByLabel('Find in the syntax').fill('severity')
      await page.getByRole('button', { name: 'level:>=warning' }).click()
      expect(await page.getByRole('combobox', { name: 'Search' }).inputValue()).toBe('level:>=warning')
      await page.getByRole('combobox', { name: 'Search' }).press('Enter')
      await expectRows(page, ['card charged', 'card declined'])
    })

    test('the syntax is told in whole lines on a phone', async () => {
      const page = await show('/event-logs', { width: 360 })
      await page.getByRole('button', { name: 'How to search' }).click()
      const help = page.locator('.syntax dd').first()
      expect((await help.boundingBox())?.width).toBeGreaterThan(120)
    })

    test('what is no query is searched as text, and where it stopped is shown', async () => {
      const page = await show('/event-logs')
      await search(page, 'card (declined')
      await page.getByText('Searched as text.').waitFor()
      await page.getByText('The parenthesis is not closed.').waitFor()
      expect(await page.locator('.as-text mark').textContent()).toBe('(declined')
      await expectRows(page, ['card declined'])
    })

    test('is marked where the rows have it', async () => {
      const marks = async (path: string): Promise<readonly string[]> => {
        const page = await show(path)
        await page.locator('tr.log mark').first().waitFor()
        return page.locator('tr.log mark').allTextContents()
      }
      expect(await marks('/event-logs?q=declined')).toEqual(['declined'])
      expect(await marks('/event-logs?q=12345678901234567890')).toEqual(['12345678901234567890'])
      expect(await marks('/event-logs?q=valid')).toEqual(['valid'])
      expect(await marks('/application-logs?q=invoice* could')).toEqual(['Invoice', 'Invoice', 'could'])
      expect(await marks('/application-logs?q=order-1 OR bankasked')).toEqual(['order-1', 'BankAsked'])
    })

    test.each([
      ['/application-logs?q=ConnectAsync', 1_440, 'exception …', 'ConnectAsync'],
      ['/application-logs?q=ConnectAsync', 390, 'exception …', 'ConnectAsync'],
      ['/application-logs?q=scope.Scopes.tenant:ac*', 1_440, 'Scopes.tenant=', 'acme'],
      ['/application-logs?q=microsoft lifetime', 1_440, 'category ', 'Microsoft.Hosting'],
    ])('%s shows what was found beyond the sight of a row, %d wide', async (path, width, name, text) => {
      const page = await show(path, { width })
      const [excerpt, cell] = ['tr.log .excerpt', 'tr.log .text'].map((each) => page.locator(each))
      await excerpt?.waitFor()
      expect(await excerpt?.textContent()).toContain(text)
      expect((await excerpt?.textContent())?.startsWith(name)).toBe(true)
      const [inner, outer] = await Promise.all([excerpt?.boundingBox(), cell?.boundingBox()])
      expect((inner?.x ?? 0) + (inner?.width ?? 0)).toBeLessThanOrEqual((outer?.x ?? 0) + (outer?.width ?? 0))
    })

    test('an opened exception shows the frame that was searched for', async () => {
      const page = await show('/application-logs?q=ConnectAsync')
      await page.locator('tr.log .text').click()
      await eventually(async () =>
        expect(await page.locator('tr.detail .frames mark').allTextContents()).toEqual(['ConnectAsync']),
      )
    })

    test.each([641, 720, 900, 1_024, 1_280])('has room beside the other tools, %d wide', async (width) => {
      const range = `from=${ago(60).slice(0, 19)}.765Z&to=${ago(0).slice(0, 19)}.765Z`
      const page = await show(`/event-logs?${range}`, { width })
      const [wider, search, ...tools] = await page.evaluate<readonly [number, ...DOMRect[]]>(
        '[document.documentElement.scrollWidth - innerWidth, ...[".search", ".environment", ".range"].map((each) => document.querySelector(each).getBoundingClientRect().toJSON())]',
      )
      expect(wider).toBeLessThanOrEqual(0)
      expect(search?.width).toBeGreaterThan(300)
      for (const tool of tools)
        expect(tool.left >= (search?.right ?? 0) || tool.top >= (search?.bottom ?? 0)).toBe(true)
      await page.keyboard.press('d')
      expect((await page.locator('.range .menu').boundingBox())?.x).toBeGreaterThanOrEqual(0)
    })

    test('and its rows have room at 320 pixels, which are 1,280 at 400 % zoom', async () => {
      const page = await show('/event-logs?q=charged', { width: 320, height: 568 })
      await expectRows(page, ['card charged'])
      await page.evaluate(
        'for (const each of document.querySelectorAll(".team .cut, tr.log .key bdi")) each.textContent += "-of-4711"',
      )
      const within = (outer: Locator, inner: Locator): Promise<void> =>
        eventually(async () => {
          const [around, box] = await Promise.all([outer.boundingBox(), inner.boundingBox()])
          expect((box?.y ?? NaN) + (box?.height ?? 0) / 2).toBeLessThan((around?.y ?? 0) + (around?.height ?? 0))
        })
      const [header, row] = [page.getByRole('banner'), page.locator('tr.log')]
      await within(header, header.getByRole('link').last())
      for (const cell of ['.from', '.key a', '.text']) await within(row, row.locator(cell))
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
    })

    test('names the tab', async () => {
      const page = await show('/event-logs')
      expect(await page.title()).toBe('Event logs · Sluice')
      await search(page, 'declined')
      await expectRows(page, ['card declined'])
      expect(await page.title()).toBe('declined · Event logs · Sluice')
      await page.getByTitle('Only Error').click()
      await eventually(async () => expect(await page.title()).toBe('declined Error · Event logs · Sluice'))
    })

    test('terms come from values, and go again', async () => {
      const page = await show('/event-logs')
      await row(page, 'valid=true').locator('.text').click()
      const field = (name: string) => page.getByRole('table', { name: 'Payload' }).getByRole('row', { name })
      await field('valid').hover()
      await field('valid').getByRole('button', { name: 'Only this payload.valid' }).click()
      await expectRows(page, [EVENTS[3] ?? ''])
      expect(paramsOf(page)).toEqual({ q: 'payload.valid:true' })
      await field('order.id').getByRole('button', { name: 'Without this payload.order.id' }).click()
      await page.getByText('Nothing matches').waitFor()
      expect(paramsOf(page)).toEqual({ q: 'payload.valid:true -payload.order.id:12345678901234567890' })
      await page.goBack()
      await expectRows(page, [EVENTS[3] ?? ''])
    })

    test('a term that is late is added to the search that was made meanwhile', async () => {
      const page = await show('/event-logs')
      const asked = Promise.withResolvers<void>()
      const held = Promise.withResolvers<void>()
      await page.route(/\/api\/query\?/, async (route) => {
        asked.resolve()
        await held.promise
        await route.continue()
      })
      await page.keyboard.press('j')
      await page.keyboard.press('x')
      await asked.promise
      await search(page, 'card')
      await page.waitForURL('**/event-logs?q=card')
      held.resolve()
      await eventually(() => expect(paramsOf(page)).toEqual({ q: expect.stringMatching(/^card -\w+:/) }))
    })
  })

  describe('what is chosen', () => {
    test('a level, or a minimum level, with the counts of all levels', async () => {
      const page = await show('/event-logs')
      const level = (name: string) => page.getByRole('group', { name: 'Levels' }).getByRole('button', { name })
      await level('warn').click()
      await expectRows(page, ['card charged'])
      expect(paramsOf(page)).toEqual({ level: 'Warning', levelMax: 'Warning' })
      expect(await level('and above').getAttribute('aria-pressed')).toBe('false')
      await level('and above').click()
      await expectRows(page, ['card charged', 'card declined'])
      expect(paramsOf(page)).toEqual({ level: 'Warning' })
      await page.getByText('2 logs', { exact: true }).waitFor()
      await level('and above').click()
      await expectRows(page, ['card charged'])
      expect(await level('info').textContent()).toBe('info2')
      expect(await level('warn').getAttribute('aria-pressed')).toBe('true')
      await level('warn').click()
      await expectRows(page, EVENTS)
      expect(await level('and above').count()).toBe(0)
    })

    test('an environment, remembered until another is chosen; production looks like nothing else', async () => {
      const page = await show('/event-logs')
      const environment = page.getByRole('combobox', { name: 'Environment' })
      await environment.selectOption('Production')
      await expectRows(page, ['card charged', 'card declined'])
      expect(await environment.getAttribute('class')).toContain('production')
      await page.goto(`${server.url}/event-logs`)
      await expectRows(page, ['card charged', 'card declined'])
      expect(paramsOf(page)).toEqual({ environment: 'Production' })
      await page.goto(`${server.url}/event-logs?level=trace`)
      await expectRows(page, EVENTS)
    })

    test('all environments again, also where the other is taken away among the flows or from an empty list', async () => {
      const page = await show('/event-logs')
      const environment = page.getByRole('combobox', { name: 'Environment' })
      await environment.selectOption('Production')
      await page.getByRole('link', { name: 'Flows', exact: true }).click()
      await page.getByRole('button', { name: 'Only Production' }).click()
      await page.getByRole('link', { name: 'Event logs', exact: true }).click()
      await expectRows(page, EVENTS)
      await environment.selectOption('Production')
      await page.getByRole('combobox', { name: 'Search' }).fill('probed')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Remove environment' }).click()
      await page.goto(`${server.url}/event-logs`)
      await expectRows(page, EVENTS)
    })

    test('a time: one of the usual ones, and typed', async () => {
      const page = await show('/event-logs')
      await page.keyboard.press('d')
      await page.getByRole('button', { name: 'Last 15 minutes' }).click()
      await expectRows(page, ['probed'])
      expect(paramsOf(page)).toEqual({ from: 'now-15m' })
      await page.keyboard.press('d')
      await page.getByLabel('From', { exact: true }).fill('now-35m')
      await page.getByLabel('To', { exact: true }).fill('now-25m')
      await page.getByRole('button', { name: 'Show', exact: true }).click()
      await expectRows(page, ['card declined'])
      expect(paramsOf(page)).toEqual({ from: 'now-35m', to: 'now-25m' })
    })

    test('a time across days is told to its end', async () => {
      const page = await show(`/event-logs?from=${ago(1_500).slice(0, 19)}.765Z&to=${ago(0).slice(0, 19)}.765Z`)
      const label = '.range .cut'
      expect(await page.locator(label).textContent()).toContain('.765 – 2')
      const hidden = `document.querySelector("${label}").scrollWidth - document.querySelector("${label}").clientWidth`
      expect(await page.evaluate(hidden)).toBe(0)
    })

    test('a time across days is told to its end where it is dragged, too', async () => {
      const page = await show(`/event-logs?from=${ago(1_500)}&to=${ago(0)}`)
      const { x, y, width } = (await page.locator('.histogram svg').boundingBox()) ?? { x: 0, y: 0, width: 0 }
      await page.mouse.move(x + 1, y + 30)
      await page.mouse.down()
      await page.mouse.move(x + width - 1, y + 30, { steps: 4 })
      const dragged = await page.locator('.histogram figcaption > span').first().textContent()
      expect(dragged).toMatch(/^\d{4}-\d\d-\d\d \S+ – \d{4}-\d\d-\d\d [\d:]+, (?:not over yet|in part)$/)
      await page.mouse.up()
    })

    test('a time by keyboard alone, also where the page is scrolled so that the header covers it', async () => {
      const page = await show('/event-logs', { height: 400 })
      await page.evaluate('scrollTo(0, 60)')
      await page.keyboard.press('d')
      const begin = page.getByLabel('From', { exact: true })
      await eventually(async () => expect(await begin.evaluate('document.activeElement.name')).toBe('begin'))
      const { top, header } = await page.evaluate<{ top: number; header: number }>(`({
        top: document.activeElement.getBoundingClientRect().top,
        header: document.querySelector('.top').getBoundingClientRect().bottom,
      })`)
      expect(top).toBeGreaterThanOrEqual(header)
      // The typed time replaces the one that is there, so it takes a key for each of its characters, and two more.
      await page.keyboard.type('20m')
      await page.keyboard.press('Enter')
      await expectRows(page, ['probed'])
      expect(paramsOf(page)).toEqual({ from: 'now-20m' })
      await page.keyboard.press('d')
      await eventually(async () => expect(await begin.evaluate('document.activeElement.name')).toBe('begin'))
      await page.keyboard.press('Shift+Tab')
      await page.keyboard.press('Enter')
      await eventually(() => expect(paramsOf(page)).toEqual({ from: '1970-01-01' }))
    })

    test('a typed time is meant in the zone that is shown, and a wrong one is told where it is typed', async () => {
      tolerate(/status of 400/)
      const page = await show('/event-logs', { zone: 'Asia/Kolkata' })
      const local = (minutes: number): string =>
        new Date(NOW - minutes * MINUTE + 330 * MINUTE).toISOString().slice(0, 19).replace('T', ' ')
      await page.keyboard.press('d')
      await page.getByLabel('From', { exact: true }).fill('soonish')
      await page.getByRole('button', { name: 'Show', exact: true }).click()
      await page.getByRole('alert').getByText('“soonish” is neither').waitFor()
      await page.getByLabel('From', { exact: true }).fill(local(35))
      await page.getByLabel('To', { exact: true }).fill(local(25))
      await page.getByRole('button', { name: 'Show', exact: true }).click()
      await expectRows(page, ['card declined'])
      expect(paramsOf(page)['from']).toBe(`${ago(35).slice(0, 19)}.000Z`)
    })

    test('a time whose text means two, as clocks are put back, stays the one that it is', async () => {
      const [from, to] = ['2026-10-25T01:30:00.000Z', '2026-10-25T04:00:00.000Z']
      const page = await show(`/event-logs?from=${from}&to=${to}`, { zone: 'Europe/Berlin' })
      await page.keyboard.press('d')
      expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-10-25 02:30:00')
      await page.getByLabel('To', { exact: true }).fill('2026-10-25 06:00')
      await page.keyboard.press('Enter')
      await eventually(() => expect(paramsOf(page)).toEqual({ from, to: '2026-10-25T05:00:00.000Z' }))
    })

    test('later is what counts, where an answer of before is late', async () => {
      const page = await show('/event-logs')
      const held = Promise.withResolvers<void>()
      await page.route(/\/api\/query/, async (route) => {
        await held.promise
        await route.continue()
      })
      await page.keyboard.press('d')
      await page.getByLabel('From', { exact: true }).fill('now-35m')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Last hour' }).click()
      await page.keyboard.press('j')
      await page.keyboard.press('x')
      await page.getByRole('link', { name: 'Flows' }).click()
      await page.waitForURL('**/flows?*')
      const late = Promise.all([/query\/range/, /query\?/].map((url) => page.waitForResponse(url)))
      held.resolve()
      await Promise.all((await late).map((response) => response.finished()))
      await page.evaluate('new Promise(requestAnimationFrame)')
      expect(paramsOf(page)).toEqual({ from: 'now-1h' })
    })

    test('a bar of the counts, several of them, or a row of their table', async () => {
      const page = await show(`/event-logs?from=${ago(60)}&to=${ago(0)}`)
      const drawing = page.locator('.histogram svg')
      const { x, y, width } = (await drawing.boundingBox()) ?? { x: 0, y: 0, width: 0 }
      const ticksBefore = await page.locator('.histogram .times').textContent()
      await page.mouse.move(x + width * 0.3, y + 30)
      await page.mouse.down()
      await page.mouse.move(x + width * 0.58, y + 30, { steps: 4 })
      await page.getByText('2 logs', { exact: true }).waitFor()
      await page.mouse.up()
      await expectRows(page, ['card declined', EVENTS[3] ?? ''])
      const { from = '', to = '' } = paramsOf(page)
      expect([Date.parse(from) < NOW - 40 * MINUTE, Date.parse(to) > NOW - 30 * MINUTE]).toEqual([true, true])
      // The bar that the pointer rests on is another one, and stays it when the pointer moves again.
      const ticks = page.locator('.histogram .times')
      await eventually(async () => expect(await ticks.textContent()).not.toBe(ticksBefore))
      const marked = page.locator('.histogram figcaption > span').first()
      const resting = await marked.textContent()
      await page.mouse.move(x + width * 0.58 - 1, y + 30)
      await page.mouse.move(x + width * 0.58, y + 30)
      expect(await marked.textContent()).toBe(resting)
      await page.goBack()
      await expectRows(page, EVENTS)
      await page.getByRole('button', { name: 'As a table' }).click()
      const table = page.getByRole('region', { name: 'Logs over time as a table' })
      expect(await table.getByRole('row').count()).toBe(6)
      await table.getByRole('row').nth(3).getByRole('button').click()
      await expectRows(page, ['card declined'])
    })

    test('an Event with its Steps, or a Step alone; those without logs are greyed, not gone', async () => {
      const page = await show('/event-logs')
      const rail = page.getByRole('complementary', { name: 'Filters' })
      await rail.getByRole('button', { name: 'Order placed 4' }).click()
      await expectRows(page, EVENTS.slice(1))
      await rail.getByRole('button', { name: 'Charge 2' }).click()
      await expectRows(page, ['card charged', 'card declined'])
      expect(paramsOf(page)).toEqual({ step: 'order-placed.charge' })
      expect(await rail.getByRole('button', { name: 'Ship 0' }).getAttribute('class')).toContain('none')
      await page.getByRole('button', { name: 'Remove step Charge' }).press('Enter')
      expect(await page.evaluate('document.activeElement.id')).toBe('main')
      await expectRows(page, EVENTS)
    })

    test('a category with all below it, a Project, and everything but Microsoft', async () => {
      const page = await show('/application-logs')
      const rail = page.getByRole('complementary', { name: 'Filters' })
      await rail.getByRole('button', { name: 'Shop 2' }).click()
      await expectRows(page, ['[1001 BankAsked] asked the bank', 'cart opened'])
      expect(paramsOf(page)).toEqual({ category: 'Acme.Shop' })
      await rail.getByRole('button', { name: 'Below Shop' }).click()
      expect(await rail.getByRole('button', { name: 'Cart 1' }).count()).toBe(0)
      await rail.getByRole('button', { name: 'Shop 2' }).click()
      await rail.getByRole('button', { name: 'Hide Microsoft.*' }).click()
      await eventually(async () => expect(await page.locator('tr.log').count()).toBe(3))
      expect(paramsOf(page)).toEqual({ q: '-category:Microsoft.*' })
      await rail.getByRole('button', { name: 'Hide Microsoft.*' }).click()
      await eventually(async () => expect(await page.locator('tr.log').count()).toBe(4))
      await rail.getByRole('button', { name: 'Checkout API 4' }).click()
      await eventually(() => expect(paramsOf(page)).toEqual({ project: PROJECT }))
    })

    test('one of very many categories: those with most logs, and the others when asked', async () => {
      const { page } = await open(server.url, { path: '/event-logs', key: LOGS_KEY, reducedMotion: true })
      const categories = Array.from({ length: 106 }, (_, index) => {
        const value = `job-${index}`
        return { name: 'category', value, label: value, count: index, children: [] }
      })
      await page.route(/application-logs\/choices/, async (route) => {
        const response = await route.fetch()
        const { data, ...rest } = (await response.json()) as { data: Choices }
        const sections = data.sections.map((section) =>
          section.name === 'Categories' ? { ...section, size: 106, choices: categories } : section,
        )
        await route.fulfill({ response, json: { ...rest, data: { ...data, sections } } })
      })
      await page.getByRole('link', { name: 'Application logs' }).click()
      const section = page.getByRole('region', { name: 'Categories' })
      const more = section.getByRole('button', { name: 'Show 6 more' })
      await more.waitFor()
      const shown = (): Promise<readonly string[]> => section.locator('.facet bdi').allTextContents()
      expect(await shown()).toEqual(
        categories
          .map(({ value }) => value)
          .reverse()
          .slice(0, 100),
      )
      await more.click()
      expect(await shown()).toHaveLength(106)
    })

    test('back and forward go through all of it', async () => {
      const page = await show('/event-logs')
      await search(page, 'card')
      await expectRows(page, ['card charged', 'card declined'])
      await search(page, 'card declined')
      await expectRows(page, ['card declined'])
      await page.goBack()
      await expectRows(page, ['card charged', 'card declined'])
      expect(await page.getByRole('combobox', { name: 'Search' }).inputValue()).toBe('card')
      await page.goBack()
      await expectRows(page, EVENTS)
      await page.goForward()
      await expectRows(page, ['card charged', 'card declined'])
    })
  })

  describe('where there is nothing', () => {
    test('in the range: the way to the newest log', async () => {
      const page = await show('/event-logs?from=now-1m')
      await page.getByText(/The newest log is from \d+ m ago/).waitFor()
      await page.getByRole('button', { name: 'Go to the newest log' }).click()
      await expectRows(page, EVENTS)
    })

    test('in a range that is still to come: the way to the newest log, and no complaint about the counts', async () => {
      const page = await show('/event-logs?from=2200-01-01')
      await page.getByText('Nothing in this time').waitFor()
      await page.getByText('0 logs', { exact: true }).waitFor()
      expect(await page.getByRole('alert').allTextContents()).toEqual([])
    })

    test('that matches: what each condition costs, and the way without it', async () => {
      const page = await show('/event-logs?q=card&environment=Production&step=probe')
      await page.getByText('Nothing matches').waitFor()
      await page.getByRole('button', { name: 'Remove step probe 2 logs' }).press('Enter')
      await expectRows(page, ['card charged', 'card declined'])
      expect(await page.evaluate('document.activeElement.id')).toBe('main')
    })

    test('on a phone: the ways out are within the screen, however long the search is', async () => {
      const path = `/event-logs?q=${'nothing-has-this-'.repeat(5)}&environment=Production`
      const { page } = await open(server.url, { path, key: LOGS_KEY, width: 390, height: 844 })
      const ways = page.locator('.empty .button')
      await ways.nth(2).waitFor()
      const boxes = await Promise.all((await ways.all()).map((way) => way.boundingBox()))
      expect(boxes).toHaveLength(3)
      for (const box of boxes) {
        expect(box?.x).toBeGreaterThanOrEqual(0)
        expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
      }
    })

    test('at all: the first minute, until the first log is here with its counts', async () => {
      // Of its own in each try, as there is only one first log.
      const { url, key, client, identifier } = await team()
      const { page } = await open(url, { path: '/event-logs', key })
      await page.getByText('Waiting for the first event log').waitFor()
      const { page: other } = await open(url, { path: '/application-logs', key })
      await other.getByText('Waiting for the first application log').waitFor()
      const log = { uniqueIdentifier: identifier, payload: 'the first', level: 'Warning' }
      await accepted(client, '/api/ExternalLogs', log)
      await expectRows(page, ['the first'])
      await page.getByText('1 log', { exact: true }).waitFor()
      await eventually(async () => expect(await page.locator('.histogram rect:not(.fade)').count()).toBe(1))
      await other.getByRole('link', { name: 'See the event logs' }).click()
      await expectRows(other, ['the first'])
    })

    test('because words are searched for as a whole: those that begin so', async () => {
      const page = await show('/application-logs?q=SocketEx level:error')
      await page.getByRole('button', { name: 'Search for SocketEx* level:error 1 log' }).click()
      await page.locator('tr.log mark', { hasText: 'SocketEx' }).waitFor()
      expect(paramsOf(page)['q']).toBe('SocketEx* level:error')
    })

    test('as the logs are of the other kind: the way to those, at the time that they have', async () => {
      const page = await show('/event-logs?q=cart&from=now-10m&step=probe')
      await page.getByText('No event log of any time matches all of these.').waitFor()
      await page.getByRole('link', { name: 'See the application logs' }).click()
      await expectRows(page, ['cart opened'])
      // The newest log here is in the range that was chosen.
      await page.goto(`${server.url}/application-logs?q=prob*&from=now-1h`)
      await page.getByText('No application log of any time matches this.').waitFor()
      await page.getByRole('link', { name: 'See the event logs' }).click()
      await expectRows(page, ['probed'])
      expect(paramsOf(page)).toEqual({ q: 'prob*', from: 'now-1h' })
    })

    test('because of a parameter that cannot be read: what is wrong with it', async () => {
      tolerate(/status of 400/)
      const { page } = await open(server.url, { path: '/event-logs?from=yesterday', key: LOGS_KEY })
      await page.getByRole('alert').getByText('from: must be ISO 8601').waitFor()
    })
  })

  test('all matches as a file, not only those in sight', async () => {
    const page = await show('/event-logs?q=card')
    const lines = async (format: string): Promise<readonly string[]> => {
      await page.getByRole('button', { name: 'Export and share' }).click()
      await page.getByText('All 2 matches').waitFor()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: `Export as ${format}` }).click(),
      ])
      return readFileSync(await download.path(), 'utf8')
        .trim()
        .split(/\r?\n/)
    }
    const ndjson = await lines('NDJSON')
    expect(ndjson.map((line) => JSON.parse(line).payload)).toEqual(['card charged', 'card declined'])
    const csv = await lines('CSV, all columns')
    expect(csv).toHaveLength(3)
    expect(csv[0]).toContain('payload')
  })

  test('are at once those of the Team that another tab signs in as, which is said', async () => {
    const page = await show('/event-logs')
    const other = await page.context().newPage()
    await other.goto(`${server.url}/event-logs`)
    await other.getByRole('button', { name: 'Shop' }).click()
    await other.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('dialog', { name: 'Your session is over' }).waitFor()
    await other.getByLabel('Team key').fill(QUIET_KEY)
    await other.keyboard.press('Enter')
    await page.getByText('Another tab signed in as Quiet: all tabs show that Team.').waitFor()
    await page.getByRole('button', { name: 'Quiet' }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('a file that is refused, as the session is over, asks to sign in', async () => {
    tolerate(/status of 401/)
    const page = await show('/event-logs?q=card')
    await page.getByRole('button', { name: 'Export and share' }).click()
    await page.context().clearCookies()
    await page.getByRole('link', { name: 'Export as NDJSON' }).click()
    await page.getByRole('dialog', { name: 'Your session is over' }).waitFor()
  })
})
