import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import {
  copied,
  expectRows,
  LOGS_KEY,
  type LogsServer,
  overflow,
  paramsOf,
  startLogsServer,
} from '../support/page-logs.ts'

const NOW = Date.now()
const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString()

const refused = (order: number): string => `Acme.PaymentRefused: order ${order}
   at System.Net.Http.HttpClient.Send()
   at Acme.Billing.Payments.Capture(Int32 order) in /src/Payments.cs:line ${order}`

async function fill(server: LogsServer): Promise<void> {
  const paid = [1, 2, 3].map((order) => ({ message: `Order ${order} was paid`, timestamp: ago(order) }))
  const failed = [4, 5].map((order) => ({
    message: `Order ${order} could not be paid`,
    level: 'Error',
    timestamp: ago(order),
    exception: refused(order),
  }))
  const started = { message: 'started', timestamp: ago(9), scopeData: { '{OriginalFormat}': 'started' } }
  const yesterday = { message: 'Order 9 was paid', timestamp: ago(30 * 60) }
  const all = [...paid, ...failed, started, yesterday]
  await server.applications(all.map((log) => ({ categoryName: 'Acme.Billing', ...log })))
  await server.total('application', all.length)
}

describeWithBrowser('groups of application logs', ({ open }) => {
  let server: LogsServer
  beforeAll(async () => {
    server = await startLogsServer()
    await fill(server)
  }, 90_000)
  afterAll(() => server.close())

  const show = (path: string, options = {}) =>
    open(server.url, { path, key: LOGS_KEY, reducedMotion: true, ...options })
  const groups = (page: Page) => page.locator('.groups a')
  const choose = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

  test('are ranked by count, and a click leads to the logs of one and back', async () => {
    const { page } = await show('/application-logs')
    await choose(page, 'Templates')
    await groups(page).nth(2).waitFor()
    expect(await groups(page).locator('.what > :first-child').allTextContents()).toEqual([
      'Order <*> was paid',
      'Order <*> could not be paid',
      'started',
    ])
    expect(await groups(page).locator('b').allTextContents()).toEqual(['3 logs, ', '2 logs, ', '1 log, '])
    await groups(page).first().press('Enter')
    await expectRows(
      page,
      [1, 2, 3].map((order) => `Order ${order} was paid`),
    )
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    await page.getByRole('button', { name: 'Remove template Order <*> was paid' }).waitFor()
    await choose(page, 'Templates')
    await groups(page).nth(2).waitFor()
    await page.goBack()
    await expectRows(
      page,
      [1, 2, 3].map((order) => `Order ${order} was paid`),
    )
  })

  test('by exception show its type and first own call, and how many logs have none', async () => {
    const { page } = await show('/application-logs?group=exception')
    await groups(page).waitFor()
    expect(await groups(page).locator('.what').allTextContents()).toEqual([
      'Acme.PaymentRefusedAcme.Billing.Payments.Capture(Int32 order) · Order 4 could not be paid',
    ])
    await page.getByText('4 logs without an exception, or stored before there were groups.').waitFor()
    await page.keyboard.press('?')
    const help = (await page.getByRole('dialog', { name: 'Keyboard' }).textContent()) ?? ''
    expect(help).toContain('Next group')
    expect(help).not.toContain('Next log')
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await expectRows(
      page,
      [4, 5].map((order) => `Order ${order} could not be paid PaymentRefused: order ${order}`),
    )
    expect(paramsOf(page)).toEqual({ exceptionGroup: expect.stringMatching(/^[\da-f]{13}$/) })
  })

  test('that are new come first when asked, also by a link', async () => {
    const { page } = await show('/application-logs?group=template')
    const names = () => groups(page).locator('.what > :first-child').allTextContents()
    await groups(page).nth(2).waitFor()
    expect((await names())[0]).toBe('Order <*> was paid')
    await page.getByLabel('Sort').selectOption('Newest first')
    await server.application({ message: 'was just deployed' })
    await server.total('application', 8)
    await page.reload()
    await eventually(async () => expect((await names())[0]).toBe('was just deployed'))
    expect(paramsOf(page)).toEqual({ group: 'template', sort: 'first' })
  })

  test('tell how many logs each had in the time before, and which are new', async () => {
    const { page } = await show('/application-logs?group=template')
    const seen = (name: string) => groups(page).filter({ hasText: name }).locator('.seen').textContent()
    await eventually(async () => expect(await seen('was paid')).toMatch(/^last .+ ago1 in the 1 d before$/))
    expect(await seen('could not be paid')).toMatch(/^last .+ agofirst .+ ago new, none in the 1 d before$/)
    // Each search is compared with its own time before, and none with a time that has no logs at all.
    await page.getByRole('combobox', { name: 'Search' }).fill('started')
    await page.keyboard.press('Enter')
    await eventually(async () => expect(await groups(page).locator('.seen').allTextContents()).toHaveLength(1))
    await eventually(async () => expect(await seen('started')).toMatch(/ago new, none in the 1 d before$/))
    const { page: longer } = await show('/application-logs?group=template&from=now-2d')
    const asked = longer.waitForResponse((answer) => /[?&]buckets=1(&|$)/.test(answer.url()))
    await groups(longer).nth(2).waitFor()
    await (await asked).finished()
    await longer.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    expect(await groups(longer).filter({ hasText: 'was paid' }).locator('.seen').textContent()).toMatch(/ago $/)
  })

  test('of nothing say why there is nothing, and are not asked for in the time before', async () => {
    const asked: string[] = []
    const { page } = await show('/application-logs?group=template&q=nothing-has-this', {
      prepare: async (opened: Page) => void opened.on('request', (request) => asked.push(request.url())),
    })
    await page.getByRole('heading', { name: 'Nothing matches' }).waitFor()
    expect(asked.filter((url) => url.includes('/groups?'))).toHaveLength(1)
  })

  test.each([1_440, 390])('axe finds nothing, and nothing is wider than the screen (%d wide)', async (width) => {
    const { page, axe } = await show('/application-logs?group=template', { width, height: 900 })
    await groups(page).nth(2).waitFor()
    expect([await overflow(page), await axe()]).toEqual([0, []])
  })

  test('of event logs are their Steps, each over time and with its last log, and lead to the logs of one', async () => {
    const send = (uniqueIdentifier: string, minutes: number, level = 'Information', payload = 'charged') =>
      server.event({ uniqueIdentifier, payload, timestamp: ago(minutes), level })
    await send('order-placed', 5)
    await send('order-placed.charge', 4)
    await send('order-placed.charge', 3, 'Error')
    await send('order-placed.ship', 2, 'Information', '{"order":{"id":4711},"carrier":"dhl"}')
    await server.total('event', 4)
    const { page, context } = await show('/event-logs?event=order-placed')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy the identifier of the event' }).click()
    await eventually(async () => expect(await copied(page)).toBe('order-placed'))
    await choose(page, 'Steps')
    await groups(page).nth(1).waitFor()
    expect(await groups(page).locator('.what').allTextContents()).toEqual([
      'Chargeorder-placed.charge · charged',
      'Shiporder-placed.ship · order.id=4711 carrier=dhl',
    ])
    expect(await groups(page).locator('.spark').count()).toBe(2)
    expect(await groups(page).locator('.seen').first().textContent()).toMatch(/last \d+ m ago/)
    await page.getByText('1 log of an Event, and of none of its Steps.').waitFor()
    await groups(page).first().click()
    await expectRows(page, ['charged', 'charged'])
    expect(paramsOf(page)).toEqual({ step: 'order-placed.charge' })
    await page.getByText('order-placed.charge', { exact: true }).waitFor()
  })
})
