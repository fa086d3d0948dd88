import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../support/api.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { startLossyTail } from '../support/lossy-tail.ts'
import {
  BEGIN,
  CHECKOUT,
  type FlowServer,
  HOUR,
  OTHER_KEY,
  OTHER_PROJECT,
  orderOf,
  SECOND,
  type SentLog,
  SHOP_KEY,
  STAGES,
  startFlowServer,
  WAREHOUSE,
} from '../support/page-flow.ts'
import { copied, overflow, paramsOf, STORE_AWAY } from '../support/page-logs.ts'

/** As views/web/flow/use-flow.ts says. */
const LOGS_MAX = 5_000
const KEPT_MAX = 20_000
const ORDER_LOGS = 11

/** A script that gives a page a tail of its own, by which a test delivers logs. */
const OWN_TAIL = `globalThis.EventSource = class extends EventTarget {
  constructor() {
    super()
    globalThis.tail = this
    setTimeout(() => this.onopen())
  }
  close() {}
}`

/** Delivers copies of a log by the page's own tail; their ids count from `from`. */
const deliver = (page: Page, log: object | undefined, from: number, count: number): Promise<void> =>
  page.evaluate(`for (let id = ${from}; id < ${from + count}; id += 1) {
    const data = JSON.stringify({ ...${JSON.stringify(log)}, id: String(id) })
    tail.dispatchEvent(new MessageEvent('entry', { data }))
  }`)

describeWithBrowser('the page of one flow', (browse) => {
  let server: FlowServer
  beforeAll(async () => {
    server = await startFlowServer()
    await server.send(orderOf('order-1'))
  })
  afterAll(() => server.close())

  /** Opens a flow and waits until all of its logs are listed. */
  const openFlow = async (path: string, more: Parameters<typeof browse.open>[1] = {}) => {
    const opened = await browse.open(server.url, { path: `/flows/${path}`, key: SHOP_KEY, ...more })
    await opened.page.locator('.flow-list tbody tr').first().waitFor()
    return opened
  }
  const marks = (page: Page) => page.getByRole('option')
  const rows = (page: Page) => page.locator('.flow-list tbody tr')
  const selected = (page: Page) => page.locator('.flow-list tr[aria-selected=true]')

  test('names the failure of one that failed, leads to its log, and draws what is missing after the last log', async () => {
    const exception = `Acme.PaymentFailedException: insufficient_funds
   at Microsoft.Extensions.Hosting.Host.Run()
   at Acme.Billing.CaptureHandler.Handle(Order order) in /src/Billing/CaptureHandler.cs:line 87`
    await server.send([
      { to: 'order', key: 'failed-1', at: BEGIN, text: 'placed' },
      { to: 'order.charge', key: 'failed-1', at: BEGIN + SECOND, text: 'declined', level: 'Error' },
      {
        ...{ to: CHECKOUT, category: 'Acme.Billing', key: 'failed-1', at: BEGIN + 2 * SECOND },
        ...{ text: 'not captured', level: 'Error', exception },
      },
      {
        to: CHECKOUT,
        category: 'Acme.Other',
        key: 'failed-1',
        at: BEGIN + 3 * SECOND,
        text: 'gave up',
        level: 'Error',
      },
    ])
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const prepare = (page: Page) =>
      page.route(/api\/flows\/.*limit=1000/, async (route) => {
        await held
        await route.continue()
      })
    const { page } = await browse.open(server.url, { path: '/flows/failed-1', key: SHOP_KEY, prepare })
    const facts = page.locator('.flow-facts')
    const place = await facts.boundingBox()
    release()
    const failure = page.getByRole('button', {
      name: 'PaymentFailedException: insufficient_funds · CaptureHandler.cs:87',
    })
    await failure.waitFor()
    expect(await facts.boundingBox()).toEqual(place)
    await failure.click()
    await eventually(async () => expect(await selected(page).textContent()).toContain('not captured'))
    const missing = await page.evaluate<number>(
      `Math.min(...[...document.querySelectorAll('.flow-unseen')].map((one) => one.getBoundingClientRect().left))`,
    )
    const last = await page.evaluate<number>(
      `Math.max(...[...document.querySelectorAll('[role=option]')].map((one) => one.getBoundingClientRect().right))`,
    )
    expect(last).toBeLessThanOrEqual(missing)
    expect(await page.locator('.flow-failure').count()).toBe(1)
    expect(new Set(await page.locator('.flow-wait').allTextContents())).toEqual(new Set(['not seen']))
  })

  test('draws lanes, idle time and what has not happened yet, and tells the same in the list', async () => {
    const { page } = await openFlow('order-1')
    const names = await page.locator('.flow-name').allTextContents()
    expect(names).toEqual([
      ...['Order placed', 'Validate', 'Charge', 'Ship', 'Deliver'],
      ...['Checkout API', 'Warehouse', 'Steps without an Event', 'Audit'],
    ])
    expect(await page.locator('.flow-unseen').count()).toBe(2)
    expect(await page.locator('.flow-wait').allTextContents()).toEqual(['next, not seen', 'not seen'])
    expect(await page.locator('.flow-fold').count()).toBe(1)
    expect(await rows(page).count()).toBe(ORDER_LOGS)
    expect(await rows(page).first().textContent()).toContain('order=4711')
    // Hours after the start, seconds still tell one log from another.
    expect(await rows(page).nth(9).locator('td').nth(1).textContent()).toBe('+3 h 2 s')
    expect(await page.locator('.flow-lasting').getAttribute('d')).toMatch(/^M/)
    expect(await page.getByRole('heading', { name: `${ORDER_LOGS} logs` }).isVisible()).toBe(true)
  })

  test.each([390, 800])('has room for the texts of its logs at %i pixels', async (width) => {
    const { page } = await openFlow('order-1', { width })
    expect((await rows(page).first().getByRole('cell').last().boundingBox())?.width).toBeGreaterThan(280)
  })

  test('says that its logs could not be read, and shows them when they can be', async () => {
    browse.tolerate(/status of 503/)
    const logs = /api\/flows\/.*limit=1000/
    const prepare = (page: Page) => page.route(logs, (route) => route.fulfill(STORE_AWAY))
    const { page } = await browse.open(server.url, { path: '/flows/order-1', key: SHOP_KEY, prepare })
    await page.getByRole('heading', { name: 'order-1' }).waitFor()
    await page.getByRole('alert').getByText('could not answer').waitFor()
    await page.unroute(logs)
    await rows(page).first().waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('leaves most room to the texts of its logs, also beside the selected one', async () => {
    const { page } = await openFlow('order-1', { width: 1_280 })
    await page.keyboard.press('j')
    await page.getByRole('complementary', { name: 'The selected log' }).waitFor()
    expect((await rows(page).first().locator('td').last().boundingBox())?.width).toBeGreaterThan(300)
  })

  test('says the day of each log where they are of several', async () => {
    const key = 'order-days'
    await server.send([
      { to: 'order', key, at: BEGIN },
      { to: 'order.validate', key, at: BEGIN + 25 * HOUR },
    ])
    const { page } = await openFlow(`${key}?utc=1`)
    const times = await page.locator('.flow-list td:first-child').allTextContents()
    expect(times).toEqual(
      [BEGIN, BEGIN + 25 * HOUR].map((at) => new Date(at).toISOString().slice(5, 23).replace('T', ' ')),
    )
  })

  test('keeps long distances apart, and shows what is found beyond the sight of a row', async () => {
    const key = 'order-found'
    const [to, category] = [CHECKOUT, 'Shop.Payments.Client']
    const exception = 'System.Exception: refused\n ---> Npgsql.PostgresException: deadlock detected'
    await server.send([
      { to, category, key, at: BEGIN, text: 'begun' },
      { to, category, key, at: BEGIN + 12 * HOUR - SECOND, text: 'not captured', level: 'Error', exception },
    ])
    const { page } = await openFlow(`${key}?q=deadlock`)
    await eventually(async () =>
      expect(await page.locator('.flow-list .excerpt').allTextContents()).toEqual(['exception …deadlock detected']),
    )
    expect(await page.locator('.flow-list mark').allTextContents()).toEqual(['deadlock'])
    const distances = page.locator('.flow-list tbody tr:last-child td.num')
    expect(await distances.allTextContents()).toEqual(['+11 h 59 m 59 s', '+11 h 59 m 59 s'])
    const rooms = await page.evaluate<readonly number[]>(
      `[...document.querySelectorAll(".flow-list tbody tr:last-child td.num")].map((cell) => {
        const range = document.createRange()
        range.selectNodeContents(cell)
        return cell.getBoundingClientRect().right - range.getBoundingClientRect().right
      })`,
    )
    for (const room of rooms) expect(room).toBeGreaterThan(0)
  })

  test('shows a payload that is found like any other, and says what is found in it only where that is out of sight', async () => {
    const key = 'order-payload'
    const text = `{"outcome":"declined","customer":{"country":"DE"},"note":"${'x'.repeat(40)} teal"}`
    await server.send([{ to: 'order.charge', key, at: BEGIN, text, level: 'Error' }])
    const { page } = await openFlow(`${key}?q=country`)
    await eventually(async () => expect(await page.locator('.flow-list mark').allTextContents()).toEqual(['country']))
    expect(await rows(page).first().locator('td').last().textContent()).toMatch(
      /^outcome=declined customer[.]country=DE/,
    )
    await page.locator('.flow-failure', { hasText: /^outcome=declined .* · Charge$/ }).waitFor()
    await page.getByRole('searchbox', { name: 'Find in this flow' }).fill('teal')
    await eventually(async () => expect(await page.locator('.flow-list .excerpt').count()).toBe(1))
    await page.setViewportSize({ width: 1_920, height: 900 })
    await eventually(async () => expect(await page.locator('.flow-list .excerpt').count()).toBe(0))
  })

  test('says what the flow is: state with its reason, times, parts, counts', async () => {
    const { page } = await openFlow('order-1')
    expect(await page.locator('.flow-state').textContent()).toBe('stalled')
    expect(await page.getByText('The next Step would be Ship').isVisible()).toBe(true)
    const facts = await page.locator('.flow-facts').textContent()
    expect(facts).toContain('11 logs')
    expect(facts).toContain('3 h · 11 s active')
    expect(facts).toContain("Your Team's part of it1 Event, 3 Steps, 2 Projects")
    expect(await page.getByRole('button', { name: 'Critical 1' }).isVisible()).toBe(true)
    const summary = await page
      .getByRole('img', { name: /11 logs of order-1 in Order placed/ })
      .getAttribute('aria-label')
    expect(summary).toContain('Ship not seen yet')
  })

  test('has one selection for drawing, list and address; n goes through the errors', async () => {
    const { page } = await openFlow('order-1')
    await rows(page).nth(2).click()
    const id = paramsOf(page)['id']
    expect(id).toBeDefined()
    expect(await page.locator('.flow-mark[aria-selected=true]').getAttribute('aria-label')).toContain('Validate')
    expect(await page.getByRole('complementary', { name: 'The selected log' }).textContent()).toContain('first look')

    await page.keyboard.press('n')
    await eventually(async () => expect(await selected(page).textContent()).toContain('timeout'))
    await page.keyboard.press('n')
    await eventually(async () => expect(await selected(page).textContent()).toContain('shelf is empty'))
    await page.keyboard.press('n')
    await eventually(async () => expect(await selected(page).textContent()).toContain('timeout'))
    await page.keyboard.press('k')
    await eventually(async () => expect(await selected(page).textContent()).toContain('durationMs'))
    await page.keyboard.press('Escape')
    await eventually(async () => expect(paramsOf(page)['id']).toBeUndefined())

    await page.goto(`${server.url}/flows/order-1?id=${id}`)
    await eventually(async () => expect(await selected(page).textContent()).toContain('first look'))
  })

  test('is walked with the keyboard from mark to mark', async () => {
    const { page } = await openFlow('order-1')
    await marks(page).first().focus()
    await page.keyboard.press('ArrowDown')
    const focused = page.locator('.flow-mark:focus')
    await eventually(async () => expect(await focused.getAttribute('aria-label')).toContain('Validate'))
    expect(await selected(page).textContent()).toContain('Validate')
    await page.keyboard.press('ArrowUp')
    await eventually(async () => expect(await focused.getAttribute('aria-label')).toContain('4711'))
  })

  test('keeps the keyboard among the marks where it looks into one of several logs', async () => {
    const key = 'order-looked-into'
    const send = (to: string, ...at: readonly number[]) => at.map((ms) => ({ to, key, at: BEGIN + ms }))
    await server.send([...send('order', 0, HOUR), ...send('order.charge', 500_000, 500_020, 900_000)])
    const { page } = await openFlow(key)
    await marks(page).first().focus()
    await page.keyboard.press('ArrowDown')
    const focused = page.locator('.flow-mark:focus')
    await eventually(async () => expect(await focused.getAttribute('aria-label')).toMatch(/^2 logs, Charge/))
    await page.keyboard.press('Enter')
    await eventually(async () => expect(await marks(page).count()).toBe(2))
    await eventually(async () => expect(await focused.getAttribute('aria-selected')).toBe('true'))
  })

  test('keeps the keyboard on a mark while others come before it', async () => {
    const key = 'order-grows-above'
    const log = (to: string, seconds: number) => ({ to, key, at: Date.now() - seconds * SECOND })
    await server.send([log('order.charge', 50), log('order.ship', 40), log('audit', 30)])
    const { page } = await openFlow(key)
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
    await marks(page).first().focus()
    await page.keyboard.press('ArrowDown')
    const focused = page.locator('.flow-mark:focus')
    await eventually(async () => expect(await focused.getAttribute('aria-label')).toContain('Ship'))
    await server.send([log('order.charge', 20)])
    await eventually(async () => expect(await marks(page).count()).toBe(4))
    expect(await focused.getAttribute('aria-label')).toContain('Ship')
    await page.keyboard.press('ArrowDown')
    await eventually(async () => expect(await focused.getAttribute('aria-label')).toContain('Audit'))
  })

  test('leads to the lists, with one of its logs among those around it', async () => {
    const { page } = await openFlow('order-1')
    await rows(page).filter({ hasText: 'no answer from paynet' }).click()
    await page.getByRole('link', { name: 'Open among application logs' }).click()
    await page.getByRole('tab', { name: 'Context', selected: true }).waitFor()
    await page.locator('tr.log.open', { hasText: 'no answer from paynet' }).waitFor()
    expect(await page.locator('tr.log', { hasText: 'accepted' }).count()).toBe(1)
  })

  test('is zoomed by dragging, wheel, buttons and keys, and the list follows', async () => {
    const { page } = await openFlow('order-1')
    const plot = (await page.locator('.flow-plot').boundingBox())!
    const fold = (await page.locator('.flow-fold').boundingBox())!
    await page.mouse.move(plot.x + 4, plot.y + 200)
    await page.mouse.down()
    await page.mouse.move(plot.x + 60, plot.y + 210)
    await page.mouse.move(fold.x - 2, plot.y + 210)
    await page.mouse.up()
    await eventually(() => expect(paramsOf(page)['from']).toBeDefined())
    expect(await page.getByRole('heading', { name: '7 of 11 logs' }).isVisible()).toBe(true)
    expect(await rows(page).count()).toBe(7)
    expect(await page.locator('.flow-fold').count()).toBe(0)
    expect(await page.locator('.flow-mini-on').isVisible()).toBe(true)

    // A link shows the same.
    await page.reload()
    await page.getByRole('heading', { name: '7 of 11 logs' }).waitFor()

    await page.mouse.move(plot.x + 30, plot.y + 200)
    await page.keyboard.down('Control')
    await page.mouse.wheel(0, -600)
    await page.keyboard.up('Control')
    await eventually(async () => expect(await rows(page).count()).toBeLessThan(7))
    await page.keyboard.press('0')
    await eventually(async () => expect(await rows(page).count()).toBe(ORDER_LOGS))
    await eventually(() => expect(paramsOf(page)['from']).toBeUndefined())
    await page.getByRole('button', { name: 'Zoom in (+)' }).click()
    await eventually(() => expect(paramsOf(page)['from']).toBeDefined())
    await page.getByRole('button', { name: 'Fit' }).press('Enter')
    await eventually(() => expect(paramsOf(page)['from']).toBeUndefined())
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Fit')
  })

  test('is not dragged by a pointer whose button was let go elsewhere', async () => {
    const { page } = await openFlow('order-1')
    const { x, y, height } = (await page.locator('.flow-minimap').boundingBox())!
    await page.mouse.move(x + 100, y + height - 2)
    await page.mouse.down()
    await page.mouse.move(x + 102, y + height + 10)
    await page.mouse.up()
    await page.mouse.move(x + 300, y + 10)
    await page.mouse.move(x + 400, y + 10)
    await page.locator('.flow-minimap:hover').waitFor()
    expect(await page.locator('.flow-brush').count()).toBe(0)
    await page.mouse.click(x + 500, y + 10)
    expect(await page.getByRole('heading', { name: `${ORDER_LOGS} logs`, exact: true }).isVisible()).toBe(true)
  })

  test('brings what is selected into the window', async () => {
    const end = new Date(BEGIN + 2 * SECOND).toISOString()
    const { page } = await openFlow(`order-1?from=${new Date(BEGIN).toISOString()}&to=${end}`)
    expect(await rows(page).count()).toBe(3)
    await page.keyboard.press('n')
    await eventually(async () => expect(await selected(page).textContent()).toContain('timeout'))
    await eventually(() => expect(paramsOf(page)['to']).not.toBe(end))
  })

  test('has a button for each of many idle times that covers no other, on a phone and in a large font as well', async () => {
    const times = [0, 1, 2, 3, 4, 5, 6].map((visit) => BEGIN + visit * 1.2 * HOUR)
    await server.send(times.flatMap((at) => [0, 1].map((s) => ({ to: 'order', key: 'idle-1', at: at + s * SECOND }))))
    for (const [width, font, text] of [
      [1_440, 16, '1 h 11 m'],
      [390, 16, '1 h'],
      [1_440, 28, '1 h'],
    ] as const) {
      const enlarge = `addEventListener('DOMContentLoaded', () => { document.documentElement.style.fontSize = '${font}px' })`
      const { page } = await openFlow('idle-1', { width, height: 844, prepare: (one) => one.addInitScript(enlarge) })
      const idle = page.locator('.flow-idle')
      await eventually(async () => expect(await idle.allTextContents()).toEqual(Array(6).fill(text)))
      expect(await idle.first().getAttribute('title')).toBe('Show this idle time, 1 h 11 m')
      const boxes = await Promise.all((await idle.all()).map((one) => one.boundingBox()))
      const ends = boxes.map((box) => (box?.x ?? 0) + (box?.width ?? 0))
      expect(boxes.slice(1).filter((box, index) => (box?.x ?? 0) < Number(ends[index]))).toEqual([])
    }
  })

  test('unfolds idle time one by one and all at once', async () => {
    const { page } = await openFlow('order-1')
    const idle = page.locator('.flow-idle')
    expect(await idle.getAttribute('aria-pressed')).toBe('true')
    expect(await idle.textContent()).toBe('2 h 59 m')
    await idle.click()
    await eventually(async () => expect(await page.locator('.flow-fold').count()).toBe(0))
    expect(await idle.getAttribute('aria-pressed')).toBe('false')
    await page.getByRole('button', { name: 'Hide idle time' }).click()
    await eventually(async () => expect(await page.locator('.flow-fold').count()).toBe(1))
    await page.getByRole('button', { name: 'Hide idle time' }).click()
    await eventually(async () => expect(await page.locator('.flow-fold').count()).toBe(0))
  })

  test('finds text, goes from match to match, and filters by level and lane', async () => {
    const { page } = await openFlow('order-1')
    await page.keyboard.press('/')
    await page.keyboard.type('paynet')
    await page.getByText('2 matches').waitFor()
    // The beginning of the word has as many matches.
    const marks = page.locator('.flow-list mark')
    await eventually(async () => expect(await marks.allTextContents()).toEqual(['paynet', 'paynet']))
    expect(await page.locator('.flow-mark.dim').count()).toBeGreaterThan(0)
    await page.keyboard.press('Enter')
    await page.getByText('1 of 2 matches').waitFor()
    await page.getByRole('button', { name: 'Next match (n)' }).click()
    await page.getByText('2 of 2 matches').waitFor()
    expect(await selected(page).textContent()).toContain('no answer from paynet')

    await page.getByLabel('Find in this flow').focus()
    await page.keyboard.press('Escape')
    expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY')
    expect(paramsOf(page)['q']).toBe('paynet')
    await page.keyboard.press('n')
    await page.getByText('1 of 2 matches').waitFor()

    // A pause after a space leaves it there, although it is not searched for.
    await page.getByLabel('Find in this flow').fill('paynet ')
    await page.getByLabel('Find in this flow').fill('no answer ')
    await eventually(async () => expect(await page.locator('.flow-list mark').allTextContents()).toContain('answer'))
    await page.getByLabel('Find in this flow').press('f')
    expect(await page.getByLabel('Find in this flow').inputValue()).toBe('no answer f')

    await page.goto(`${server.url}/flows/order-1`)
    await page.getByRole('button', { name: 'Error 1' }).click()
    await eventually(async () => expect(await rows(page).count()).toBe(1))
    await page.getByRole('button', { name: 'Critical 1' }).click()
    await eventually(async () => expect(await rows(page).count()).toBe(2))
    await page.goto(`${server.url}/flows/order-1`)
    await page.locator('.flow-name', { hasText: 'Charge' }).click()
    await eventually(async () => expect(await rows(page).count()).toBe(4))
    await page.getByRole('button', { name: 'Debug' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Only Charge' }).click()
    await eventually(async () => expect(await rows(page).count()).toBe(ORDER_LOGS))
  })

  test('goes to the first match where Enter comes at once after what is to be found', async () => {
    const { page } = await openFlow('order-1')
    await page.keyboard.press('/')
    await page.keyboard.type('paynet')
    await page.keyboard.press('Enter')
    await page.getByText('1 of 2 matches').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('2 of 2 matches').waitFor()
    await page.getByLabel('Find in this flow').fill('first look')
    await page.keyboard.press('Shift+Enter')
    await page.getByText('1 of 1 match', { exact: true }).waitFor()
    expect(await selected(page).textContent()).toContain('first look')
  })

  test('folds a group, shows a Project by category, and does without Steps that are optional', async () => {
    const { page } = await openFlow('order-1')
    await page.getByRole('button', { name: 'Lanes of Order placed' }).click()
    await eventually(async () => expect(await page.locator('.flow-name').allTextContents()).not.toContain('Charge'))
    expect(await marks(page).count()).toBeGreaterThan(3)
    await page.getByRole('button', { name: 'Lanes of Order placed' }).click()
    await page.getByRole('button', { name: 'Lanes of Checkout API' }).click()
    await eventually(async () =>
      expect(await page.locator('.flow-name').allTextContents()).toContain('Payments.Client'),
    )
    await page.getByRole('button', { name: 'Hide 2 Steps not seen' }).click()
    await eventually(async () => expect(await page.locator('.flow-unseen').count()).toBe(0))
    await page.reload()
    await page.getByRole('button', { name: 'Show 2 Steps not seen' }).waitFor()
    expect(await page.locator('.flow-unseen').count()).toBe(0)
  })

  test('grows while it is open, and goes on where it was after a pause', async () => {
    const key = 'order-live'
    await server.send([{ to: 'order.validate', key, at: Date.now() - SECOND }])
    const { page } = await openFlow(key)
    expect(await page.locator('.flow-state').textContent()).toBe('running')
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
    await server.send([{ to: 'order.charge', key, at: Date.now(), text: 'comes by itself' }])
    await page.getByText('comes by itself').waitFor()
    await page.getByText('2 logs', { exact: true }).first().waitFor()

    await page.keyboard.press('t')
    await page.getByRole('button', { name: 'Live', exact: true, pressed: false }).waitFor()
    await server.send([{ to: 'order.ship', key, at: Date.now(), text: 'while nobody looked' }])
    await page.keyboard.press('t')
    await page.getByText('while nobody looked').waitFor()
    await server.send([{ to: 'order.deliver', key, at: Date.now(), text: 'the end' }])
    await page.getByText('the end').waitFor()
    await eventually(async () => expect(await page.locator('.flow-state').textContent()).toBe('finished'))
    expect(await page.locator('.flow-unseen').count()).toBe(0)
  })

  test('says how long ago its last log was by the present, not by when that was last said', async () => {
    const key = 'order-just-now'
    await server.send([{ to: 'order.validate', key, at: Date.now() - SECOND }])
    const { page } = await openFlow(key)
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
    const now = Date.now() + 60 * SECOND
    await page.evaluate(`Date.now = () => ${now}`)
    await server.send([{ to: 'order.charge', key, at: now - 30 * SECOND }])
    await page.getByText('2 logs', { exact: true }).first().waitFor()
    expect(await page.getByText('30 s ago').isVisible()).toBe(true)
  })

  test('outlives the server and shows what came meanwhile', async () => {
    browse.tolerate(/net::ERR_|Failed to load resource/)
    const key = 'order-outage'
    await server.send([{ to: 'order.validate', key, at: Date.now() - SECOND, text: 'before' }])
    const { page } = await openFlow(`${key}?q=before`)
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
    await server.stop()
    await page.getByRole('button', { name: 'Reconnecting' }).waitFor()
    expect(await page.getByLabel('Find in this flow').inputValue()).toBe('before')
    await server.restart()
    await server.send([{ to: 'order.charge', key, at: Date.now(), text: 'after' }])
    await page.getByText('after', { exact: true }).waitFor({ timeout: 30_000 })
  })

  test('reads and draws so many logs, says so, and lists the rest when asked', async () => {
    const key = 'import-huge'
    const total = LOGS_MAX + 150
    await server.send(
      Array.from({ length: total }, (_, index): SentLog => {
        return { to: CHECKOUT, category: 'Import', key, at: BEGIN + index * 10, text: `row ${index}` }
      }),
    )
    const { page } = await openFlow(key)
    await page.getByText('The first 5,000 logs were read.').waitFor()
    await page.getByRole('heading', { name: '5,000 of 5,150 logs' }).waitFor()
    await page.getByRole('button', { name: 'Read more' }).click()
    await page.getByRole('heading', { name: '5,150 logs', exact: true }).waitFor()
    expect(await page.getByText('were read').count()).toBe(0)
    expect(await page.locator('.flow-row .num').textContent()).toBe('5k')
    await page.keyboard.press('k')
    await eventually(async () => expect(await selected(page).textContent()).toContain(`row ${total - 1}`))
  }, 120_000)

  test('shows what was sent while its tail was refused, also where the counts do not tell of it yet', async () => {
    browse.tolerate(/net::ERR_|Failed to load resource/)
    const key = 'order-refused'
    await server.send([{ to: 'order.validate', key, at: Date.now() - SECOND, text: 'before' }])
    const lossy = await startLossyTail(server.url)
    try {
      lossy.refuse(true)
      const { page } = await browse.open(lossy.url, { path: '/flows', key: SHOP_KEY })
      // The counts of a flow are made beside its logs, and may be later.
      let counts: string | undefined
      await page.route(/\/api\/flows\/[^/]+\?limit=1$/, async (route) => {
        counts ??= await (await route.fetch()).text()
        await route.fulfill({ body: counts, contentType: 'application/json' })
      })
      await page.getByRole('link', { name: key }).click()
      await page.getByText('before', { exact: true }).waitFor()
      await eventually(() => lossy.refused() > 0)
      await server.send([{ to: 'order.charge', key, at: Date.now(), text: 'while it was refused' }])
      lossy.refuse(false)
      await page.getByText('while it was refused').waitFor()
    } finally {
      await lossy.close()
    }
  })

  test('reads again what its tail was too slow for', async () => {
    const key = 'order-slow'
    await server.send([{ to: 'order.validate', key, at: Date.now() - SECOND, text: 'before' }])
    const lossy = await startLossyTail(server.url)
    try {
      const { page } = await browse.open(lossy.url, { path: `/flows/${key}`, key: SHOP_KEY })
      await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
      lossy.lose()
      await server.send([{ to: 'order.charge', key, at: Date.now(), text: 'not sent on' }])
      await eventually(async () => {
        const told = await lossy.tell()
        if (told === 0) lossy.lose()
        return told === 1
      })
      await page.getByText('not sent on').waitFor()
    } finally {
      await lossy.close()
    }
  })

  test('keeps no more of what comes than it draws, while its summary cannot be read', async () => {
    browse.tolerate(/status of 503/)
    const key = 'order-without-summary'
    await server.send([{ to: 'order', key, at: BEGIN }])
    const answer = await server.client.get<{ items: readonly object[] }>(`/api/flows/${key}`)
    const summary = /api\/flows\?correlationKey=/
    const prepare = async (page: Page): Promise<void> => {
      await page.route(summary, (route) => route.fulfill(STORE_AWAY))
      await page.addInitScript(OWN_TAIL)
    }
    const { page } = await browse.open(server.url, { path: `/flows/${key}`, key: SHOP_KEY, prepare })
    await page.getByRole('alert').getByText('could not answer').waitFor()
    await deliver(page, answer.data.items[0], 0, LOGS_MAX + 500)
    await page.unroute(summary)
    await page.getByRole('heading', { name: '5,001 of 1 log' }).waitFor()
  })

  test('follows so many logs, and reads what came after them when asked', async () => {
    const key = 'order-followed'
    await server.send([{ to: 'order', key, at: BEGIN }])
    const answer = await server.client.get<{ items: readonly object[] }>(`/api/flows/${key}`)
    const prepare = (page: Page) => page.addInitScript(OWN_TAIL)
    const { page } = await browse.open(server.url, { path: `/flows/${key}`, key: SHOP_KEY, prepare })
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
    await rows(page).first().waitFor()
    for (let sent = 0; sent < KEPT_MAX; sent += LOGS_MAX) {
      await deliver(page, answer.data.items[0], sent, LOGS_MAX)
      await page.getByRole('heading', { name: `${(sent + LOGS_MAX + 1).toLocaleString('en')} of 1 log` }).waitFor()
    }
    expect(await page.getByRole('button', { name: 'Read more' }).count()).toBe(0)
    await deliver(page, answer.data.items[0], KEPT_MAX, 100)
    await page.getByText('The first 20,001 logs were read').waitFor()
    const read = page.waitForRequest(/flows\/order-followed\?limit=1000$/)
    await page.getByRole('button', { name: 'Read more' }).click()
    await read
    await page.getByText('were read').waitFor({ state: 'detached' })
  }, 60_000)

  test('waits for a key that nobody has used yet', async () => {
    const { page } = await browse.open(server.url, { path: '/flows/order-to-come', key: SHOP_KEY })
    await page.getByText('No log of your Team has this key').waitFor()
    await page.getByText('The page waits for its first log').waitFor()
    const search = page.getByRole('link', { name: 'Search the logs for it' })
    expect(await search.getAttribute('href')).toBe('/application-logs?q=order-to-come')
    // It is asked for again, and nothing of that is an error: a test fails where the console has one.
    for (let times = 0; times < 2; times += 1) await page.waitForResponse(/\/api\/flows\?correlationKey=order-to-come/)
    await server.send([{ to: 'order', key: 'order-to-come', at: Date.now(), text: 'here it is' }])
    await page.getByText('here it is').waitFor()
  })

  test('reaches any key by its address', async () => {
    for (const key of ['a/b?c#d&e=f', 'ünï 支付 😀', '..', '50%', '-']) {
      await server.send([{ to: 'order', key, at: Date.now(), text: `payload of ${key}` }])
      const { page } = await browse.open(server.url, { path: '/flows', key: SHOP_KEY })
      await page.getByLabel('Part of a correlationKey', { exact: false }).fill(key)
      await page.keyboard.press('Enter')
      await page.getByText(`payload of ${key}`).waitFor()
      await page.reload()
      await page.getByText(`payload of ${key}`).waitFor()
      expect(await page.locator('h1').textContent()).toBe(key)
      await page.close()
    }
  })

  test('takes hostile text as text', async () => {
    const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202e\u0007'
    const key = `${evil} key`
    await server.send([
      { to: 'order', key, at: Date.now(), text: evil + 'x'.repeat(200_000), level: 'Error' },
      { to: CHECKOUT, category: evil, key, at: Date.now() + 1, text: `${evil}\n`.repeat(1_000) },
    ])
    const { page } = await openFlow(encodeURIComponent(key))
    await page.keyboard.press('n')
    await page.getByRole('complementary').waitFor()
    await marks(page).first().hover()
    expect(await page.evaluate('window.hacked')).toBeUndefined()
    expect(await page.locator('main img, main script').count()).toBe(0)
    expect(await overflow(page)).toBe(0)
    expect(await page.locator('h1').textContent()).toContain('⟨202E⟩␇')
    await page.getByRole('button', { name: 'Lanes of Checkout API' }).click()
    await page.locator('.flow-row.lane .flow-name').last().click()
    expect(await page.getByRole('button', { name: 'Only' }).textContent()).toContain('⟨202E⟩␇')
  })

  test('copies a selected log as a whole, however long it is', async () => {
    const [key, text] = ['order-long', 'long '.repeat(2_000)]
    await server.send([{ to: 'order', key, at: BEGIN, text }])
    const { page, context } = await openFlow(key)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await rows(page).first().click()
    await page.keyboard.press('c')
    await page.getByText('The JSON was copied').waitFor()
    expect(JSON.parse(await copied(page))).toMatchObject({ payload: text })
  })

  test('tells of clocks that differ and orders by receipt', async () => {
    const key = 'order-skew'
    const now = Date.now()
    await server.send([{ to: 'order.charge', key, at: now + 20 * SECOND, text: 'clock ahead' }])
    await server.send([{ to: 'order.validate', key, at: now, text: 'clock right' }])
    const { page } = await openFlow(key)
    expect(await page.getByText(/clock 1\d s ahead/).isVisible()).toBe(true)
    expect(await rows(page).first().textContent()).toContain('clock right')
    await page.getByRole('button', { name: 'Order by receipt' }).click()
    await eventually(async () => expect(await rows(page).first().textContent()).toContain('clock ahead'))
  })

  test("shows nothing of another Team's logs with the same key", async () => {
    const other = createClient(server.url, OTHER_KEY)
    const key = 'order-shared'
    await server.send([{ to: 'order', key, at: BEGIN, text: 'ours' }])
    await server.send(
      [
        { to: 'secret', key, at: BEGIN + HOUR, text: 'theirs', level: 'Critical' },
        { to: OTHER_PROJECT, category: 'Theirs', key, at: BEGIN + 2 * HOUR, text: 'theirs too' },
      ],
      other,
    )
    const { page } = await openFlow(key)
    await page.getByRole('heading', { name: '1 log' }).waitFor()
    expect(await page.locator('main').textContent()).not.toMatch(/theirs|secret|Other|Critical/i)
  })

  test('saves the drawing as a file of its own, and the logs as NDJSON', async () => {
    const { page } = await openFlow('order-1')
    await page.getByRole('button', { name: 'Export' }).click()
    const [drawing] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Drawing as SVG' }).click(),
    ])
    expect(drawing.suggestedFilename()).toMatch(/^flow-order-1-\d{8}T\d{6}Z\.svg$/)
    const svg = await readFile(await drawing.path(), 'utf8')
    expect(svg).toContain('Charge')
    expect(svg).toContain('next, not seen')
    expect(svg).not.toMatch(/var\(--|<script|href/)
    expect(svg).toContain('2 h 59 m')
    const [logs] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'All logs as NDJSON' }).click(),
    ])
    const lines = (await readFile(await logs.path(), 'utf8')).trim().split('\n')
    expect(lines).toHaveLength(ORDER_LOGS)
    expect(JSON.parse(lines[0]!)).toMatchObject({ correlationKey: 'order-1' })

    // The file is read by a page that has nothing but it.
    const alone = await page.context().newPage()
    const parsed = await alone.evaluate<[string, number]>(
      `(() => { const file = new DOMParser().parseFromString(${JSON.stringify(svg)}, 'image/svg+xml');
        return [file.documentElement.nodeName, file.querySelectorAll('.mark').length] })()`,
    )
    expect(parsed).toEqual(['svg', await marks(page).count()])
  })

  test('draws two thousand logs in forty lanes with few nodes, and lists them in pages', async () => {
    const key = 'import-1'
    const logs = Array.from({ length: 2_000 }, (_, index): SentLog => {
      const at = BEGIN + ((index * 7_919) % 2_000) * 3 * SECOND
      const level = index % 97 === 0 ? 'Error' : index % 31 === 0 ? 'Warning' : 'Information'
      const lane = index % 40
      if (lane < STAGES) return { to: `import.s${lane}`, key, at, level, text: `row ${index}` }
      return {
        to: lane === STAGES ? CHECKOUT : WAREHOUSE,
        category: 'Import.Worker',
        key,
        at,
        level,
        text: `row ${index}`,
      }
    })
    await server.send(logs)
    const { page } = await openFlow(key)
    await page.getByRole('heading', { name: '2,000 logs' }).waitFor()
    await eventually(async () => expect(await marks(page).count()).toBeGreaterThan(1_000))
    const nodes = await page.evaluate<number>(
      `document.querySelectorAll('.flow-drawing svg, .flow-drawing svg *').length`,
    )
    expect(nodes).toBeLessThan(3_000)
    expect(await page.locator('.flow-thread').getAttribute('d')).toBe('')
    expect(await rows(page).count()).toBe(200)
    await page.getByRole('button', { name: 'Later' }).click()
    await page.getByText('201 to 400').waitFor()
    for (let turns = 0; turns < 4; turns += 1) await page.getByRole('button', { name: 'Later' }).click()
    await page.getByText('1,001 to 1,200').waitFor()
    for (let turns = 0; turns < 5; turns += 1) await page.getByRole('button', { name: 'Earlier' }).press('Enter')
    await page.getByText('1 to 200').waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Earlier')

    // Several logs that are drawn as one are looked into.
    await page.getByRole('button', { name: 'Lanes of Nightly import' }).click()
    await page
      .getByRole('option', { name: /^\d+ logs, Nightly import/ })
      .first()
      .click()
    await eventually(() => expect(paramsOf(page)['from']).toBeDefined())
    await eventually(async () => expect(await marks(page).count()).toBeLessThan(400))
  }, 120_000)

  test('brings what is selected into the part of drawing and list that is in the window', async () => {
    const key = 'import-long'
    await server.send(
      Array.from({ length: 2 * STAGES }, (_, index): SentLog => {
        const level = index % 5 === 0 ? 'Error' : 'Information'
        return { to: `import.s${index % STAGES}`, key, at: BEGIN + index * SECOND, level }
      }),
    )
    const expectInWindow = async (page: Page, selector: string, cover = 'header') => {
      const inWindow = `(() => {
        const { top, bottom, left, right } = document.querySelector('${selector}').getBoundingClientRect()
        const cover = document.querySelector('${cover}').getBoundingClientRect()
        // A browser scrolls by whole pixels.
        return [top >= 47, bottom <= innerHeight + 1, ${cover === 'header'} || left >= cover.right - 1, right <= innerWidth + 1]
      })()`
      await eventually(async () => expect(await page.evaluate(inWindow)).toEqual([true, true, true, true]))
    }
    const errorsIn = async (page: Page): Promise<void> => {
      // The drawing reaches below the window.
      await page.evaluate('scrollBy(0, document.querySelector(".flow-scroll").getBoundingClientRect().top - 300)')
      for (const key of 'nnnnnnNNN') {
        await page.keyboard.press(key)
        await page.locator('.flow-ring').waitFor()
        await expectInWindow(page, '.flow-ring', '.flow-gutter')
      }
    }
    const { page: phone } = await openFlow(key, { width: 390, height: 700 })
    await errorsIn(phone)
    const { page } = await openFlow(key, { height: 560 })
    await errorsIn(page)
    await page.evaluate('scrollBy(0, document.querySelector(".flow-list .scroll").getBoundingClientRect().top - 300)')
    for (const key of 'jjjjjjjjjjjjkkkk') {
      await page.keyboard.press(key)
      await expectInWindow(page, '.flow-list [aria-selected=true]')
    }
  })

  test('brings what a key or a row selects into a low or narrow window, and leaves a large one where it is', async () => {
    const details = (page: Page) => page.getByRole('complementary', { name: 'The selected log' })
    const isInSight = (page: Page): Promise<boolean> =>
      details(page).evaluate((one) => {
        const { top, bottom } = one.getBoundingClientRect()
        return top < innerHeight && bottom > 0
      })
    // The first is the window of a small laptop at 200 % zoom.
    for (const look of [
      { width: 680, height: 384 },
      { width: 320, height: 568 },
    ]) {
      const { page } = await openFlow('order-1', look)
      await page.keyboard.press('n')
      await eventually(async () => expect(await isInSight(page)).toBe(true))
      await page.keyboard.press('Escape')
      await rows(page).nth(5).click()
      await eventually(async () => expect(await isInSight(page)).toBe(true))
    }
    const { page } = await openFlow('order-1')
    await page.keyboard.press('n')
    await details(page).waitFor()
    expect(await page.evaluate('scrollY')).toBe(0)
  })

  test('stays where one has scrolled to, as its logs are read again', async () => {
    const { page } = await openFlow('order-1', { width: 680, height: 384 })
    await page.keyboard.press('n')
    await eventually(async () => expect(await page.evaluate('scrollY')).toBeGreaterThan(0))
    await page.evaluate('scrollTo(0, 0)')
    const readAgain = page.waitForResponse(/limit=1000/)
    // The tail opens anew, as in a tab that one returns to.
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await (await readAgain).finished()
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))')
    expect(await page.evaluate('scrollY')).toBe(0)
  })

  test('is clean by axe, wide and narrow, and never wider than the window', async () => {
    for (const look of [{}, { width: 390, height: 844 }]) {
      const { page, axe } = await openFlow('order-1?q=paynet', look)
      await page.keyboard.press('n')
      await page.getByRole('complementary').waitFor()
      expect(await axe()).toEqual([])
      expect(await overflow(page)).toBe(0)
      await page.close()
    }
  })
})
