import { execFileSync } from 'node:child_process'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import {
  copied,
  expectRows,
  LOGS_KEY,
  type LogsServer,
  PROJECT,
  paramsOf,
  rowTexts,
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

const SCOPES = {
  Scopes: [
    {
      Message: 'RequestPath:/orders',
      '{OriginalFormat}': 'RequestPath:{RequestPath}',
      RequestPath: '/orders',
      tenant: 'outer',
    },
    { tenant: 'acme' },
  ],
}

const PAYLOAD = '{"order":{"id":12345678901234567890,"price":1.10},"lines":[]}'

async function fill(server: LogsServer): Promise<void> {
  for (let index = 0; index < 30; index += 1) {
    await server.event({
      payload: `event ${index}`,
      timestamp: ago(60 - index),
      correlationKey: index % 3 === 0 ? 'order-3' : null,
    })
  }
  await server.event({
    payload: PAYLOAD,
    timestamp: ago(5),
    uniqueIdentifier: 'order-placed.ship',
    correlationKey: 'order-3',
  })
  await server.application({
    message: 'not sent',
    level: 'Error',
    exception: EXCEPTION,
    scopeData: SCOPES,
    timestamp: ago(4),
  })
  await server.total('event', 31)
  await server.total('application', 1)
}

/** Sends a body as it is written: no object of JavaScript holds its numbers. */
async function sendText(server: LogsServer, body: string): Promise<void> {
  const headers = { 'x-api-key': LOGS_KEY, 'content-type': 'application/json' }
  await fetch(`${server.url}/api/ApplicationLogs`, { method: 'POST', headers, body })
}

describeWithBrowser('one log', ({ open, tolerate }) => {
  let server: LogsServer
  beforeAll(async () => {
    server = await startLogsServer()
    await fill(server)
  }, 90_000)
  afterAll(async () => {
    await server.close()
  })

  const show = async (path: string, more = {}): Promise<Page> => {
    const { page, context } = await open(server.url, { path, key: LOGS_KEY, reducedMotion: true, ...more })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.locator('tr.log').first().waitFor()
    return page
  }
  const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Log', exact: true })
  const openFirst = async (page: Page) => {
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await panelOf(page).waitFor()
    return panelOf(page)
  }
  const tab = (page: Page, name: string) => panelOf(page).getByRole('tab', { name }).click()

  test('opens beside the list on Enter, moves with the rows, and closes on Escape to where one was', async () => {
    const page = await show('/event-logs')
    const panel = await openFirst(page)
    await panel.getByText('12345678901234567890').first().waitFor()
    await page.keyboard.press('j')
    await panel.getByText('event 29').waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.closest("tr").querySelector(".text").textContent')).toBe(
      'event 29',
    )
    expect(paramsOf(page)).toEqual({})
  })

  test('Escape closes one thing at a time', async () => {
    const page = await show('/event-logs')
    await page.locator('tr.log .text').nth(2).click()
    await openFirst(page)
    await page.keyboard.press('d')
    await page.getByRole('button', { name: 'Last hour' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Last hour' }).waitFor({ state: 'detached' })
    expect(await panelOf(page).count()).toBe(1)
    await page.keyboard.press('Escape')
    await panelOf(page).waitFor({ state: 'detached' })
    expect(await page.locator('tr.detail').count()).toBe(1)
    await page.keyboard.press('Escape')
    await page.locator('tr.detail').waitFor({ state: 'detached' })
  })

  test('is marked in the list in high contrast, as are live and flow', async () => {
    const page = await show('/event-logs')
    await openFirst(page)
    const dots = () =>
      page.evaluate<readonly string[]>(
        '[...document.querySelectorAll(".tail i, tr.log:first-of-type .key i")].map((dot) => getComputedStyle(dot).backgroundColor)',
      )
    const before = await dots()
    await page.emulateMedia({ forcedColors: 'active' })
    expect(await page.evaluate('getComputedStyle(document.querySelector("tr.log.open")).outlineStyle')).toBe('solid')
    expect(await dots()).toEqual(before)
  })

  test('shows a payload laid out, every number as it was sent', async () => {
    const page = await show('/event-logs')
    const panel = await openFirst(page)
    expect(await panel.locator('pre').textContent()).toBe(
      '{\n  "order": {\n    "id": 12345678901234567890,\n    "price": 1.10\n  },\n  "lines": []\n}',
    )
  })

  test('shows, copies and sends again every digit of a number in the scope data', async () => {
    const scopeData = '{"order":12345678901234567890}'
    const fields = `"categoryName":"Digits","message":"digits","level":"Debug","timestamp":"${ago(90)}"`
    await sendText(server, `{"uniqueIdentifier":"${PROJECT}",${fields},"scopeData":${scopeData}}`)
    await server.total('application', 2)
    const page = await show('/application-logs?q=digits')
    const panel = await openFirst(page)
    await panel.getByRole('row', { name: 'order 12345678901234567890' }).hover()
    await panel.getByRole('button', { name: 'Only this scope.order' }).click()
    await eventually(() => expect(paramsOf(page)['q']).toBe('digits scope.order:12345678901234567890'))
    await expectRows(page, ['digits order=12345678901234567890'])
    await page.keyboard.press('c')
    await eventually(async () => expect(await copied(page)).toContain('"order": 12345678901234567890'))
    await panel.getByRole('button', { name: 'Copy as cURL' }).click()
    await eventually(async () => expect(await copied(page)).toContain(`"scopeData":${scopeData}`))
  })

  test('shows scopes in their order, and what holds after all of them', async () => {
    const page = await show('/application-logs')
    const panel = await openFirst(page)
    await panel.locator('.scopes li').first().waitFor()
    expect(await panel.locator('.scopes li').allTextContents()).toEqual(['RequestPath:/orders', 'tenant=acme'])
    const values = panel.getByRole('table', { name: 'Values of the scopes' })
    expect(await values.getByRole('row', { name: 'tenant' }).locator('td').first().textContent()).toBe('acmeouter')
    expect(await values.textContent()).not.toContain('OriginalFormat')
    await values.getByRole('row', { name: 'tenant' }).hover()
    await values.getByRole('button', { name: 'Only this scope.Scopes.tenant' }).click()
    await eventually(() => expect(paramsOf(page)['q']).toBe('scope.Scopes.tenant:acme'))
    await expectRows(page, ['not sent InvalidOperationException: Invoice 4711 could not be sent Scopes.tenant=acme'])
  })

  test('on a phone, a value has the width of the table, below its name and actions', async () => {
    const page = await show('/event-logs', { width: 360 })
    const table = (await openFirst(page)).getByRole('table', { name: 'Fields' })
    const [name, value, actions] = await Promise.all(
      [
        table.getByRole('rowheader', { name: 'correlationKey', exact: true }),
        table.getByRole('cell', { name: 'order-3', exact: true }),
        table.getByRole('button', { name: 'Copy correlationKey' }),
      ].map((part) => part.boundingBox()),
    )
    expect(value?.width).toBe((await table.boundingBox())?.width)
    for (const above of [name, actions])
      expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(value?.y ?? 0)
  })

  test('shows an exception with its causes, frameworks folded and the first own frame marked', async () => {
    const page = await show('/application-logs')
    const panel = await openFirst(page)
    await tab(page, 'Exception')
    expect(paramsOf(page)['tab']).toBe('exception')
    await panel.getByText('System.Net.Sockets.SocketException (111)').waitFor()
    expect(await panel.locator('.own').textContent()).toBe(
      'Acme.Billing.Invoices.Send(Invoice invoice) /src/Invoices.cs:87',
    )
    expect(await panel.getByText('ConnectAsync').count()).toBe(0)
    await panel.getByRole('button', { name: '2 frames of frameworks' }).click()
    await panel.getByText('ConnectAsync').waitFor()
    await panel.getByRole('button', { name: 'Copy as text' }).click()
    await eventually(async () => expect(await copied(page)).toBe(EXCEPTION))
  })

  test('shows what was logged around it and by whom: all, of the same flow, and further', async () => {
    const page = await show('/event-logs?q=payload.order.price:1.1')
    const panel = await openFirst(page)
    await tab(page, 'Context')
    const lines = panel.locator('.context a')
    await eventually(async () => expect(await lines.count()).toBe(11))
    const [open, other] = ['[aria-current=true]', 'a:not([aria-current])'].map((each) => panel.locator(each).last())
    expect(await open?.textContent()).toMatch(/Ship.*12345678901234567890/)
    expect(await other?.textContent()).toMatch(/Order placed.*event/)
    await panel.getByRole('button', { name: 'Earlier' }).click()
    await eventually(async () => expect(await lines.count()).toBe(31))
    await panel.getByRole('button', { name: 'Same flow' }).click()
    await eventually(async () => expect(await lines.count()).toBe(11))
    await panel.getByRole('button', { name: 'This search' }).click()
    await eventually(async () => expect(await lines.count()).toBe(1))
    await panel.getByRole('button', { name: 'All logs' }).click()
    await panel.getByRole('link', { name: 'event 29' }).click()
    await eventually(async () => expect(await panel.locator('[aria-current=true]').textContent()).toContain('event 29'))
  })

  test('says that it is among all logs where it is in no flow, and goes on with the flow of the next one', async () => {
    const page = await show('/event-logs')
    const panel = await openFirst(page)
    await tab(page, 'Context')
    const chosen = panel.getByRole('group', { name: 'Context of' }).locator('[aria-pressed=true]')
    await panel.getByRole('button', { name: 'Same flow' }).click()
    for (const [key, among] of [
      ['j', 'All logs'],
      ['k', 'Same flow'],
    ] as const) {
      await page.keyboard.press(key)
      await eventually(async () => expect(await chosen.allTextContents()).toEqual([among]))
    }
  })

  test('shows nothing of what was logged around another, where its own cannot be read', async () => {
    tolerate(/status of 503/)
    const page = await show('/event-logs')
    const panel = await openFirst(page)
    await tab(page, 'Context')
    await panel.locator('[aria-current=true]').waitFor()
    await page.route(/\/context\?/, (route) => route.fulfill(STORE_AWAY))
    await page.keyboard.press('j')
    await panel.getByText('could not answer').waitFor()
    expect(await panel.locator('.context li').count()).toBe(0)
  })

  test('names the days of what was logged around it where they are several', async () => {
    const days = [3, 2, 1].map((count) => ago(count * 1_440 + 2))
    const category = { categoryName: 'Acme.Sparse' }
    for (const timestamp of days) await server.application({ ...category, message: 'seldom', timestamp })
    await eventually(async () => expect(await server.client.all('/api/application-logs?q=seldom')).toHaveLength(3))
    const page = await show('/application-logs?q=seldom&from=now-7d&utc=1')
    await openFirst(page)
    await tab(page, 'Context')
    await panelOf(page).getByRole('button', { name: 'Same category' }).click()
    await eventually(async () =>
      expect(await page.locator('.context li.muted').allTextContents()).toEqual(days.map((day) => day.slice(0, 10))),
    )
  })

  test('is copied as message, as JSON and as a command that sends it again', async () => {
    const page = await show('/application-logs')
    const panel = await openFirst(page)
    await panel.getByRole('button', { name: 'Copy message' }).click()
    await eventually(async () => expect(await copied(page)).toBe('not sent'))
    await page.keyboard.press('c')
    await eventually(async () =>
      expect(JSON.parse(await copied(page))).toMatchObject({ exception: EXCEPTION, scopeData: SCOPES }),
    )
    await panel.getByRole('button', { name: 'Copy as cURL' }).click()
    await eventually(async () => expect(await copied(page)).toContain('curl'))
    const command = (await copied(page)).replace('<API_KEY>', LOGS_KEY)
    const answer = JSON.parse(execFileSync('bash', ['-c', `${command} -s`], { encoding: 'utf8' }))
    expect(answer.success).toBe(true)
    await eventually(async () => {
      const { data } = await server.client.get<Record<string, unknown>>(`/api/application-logs/${answer.data.id}`)
      expect(data).toMatchObject({ message: 'not sent', exception: EXCEPTION, scopeData: SCOPES })
    })
  })

  test('a link to it shows the same tomorrow, also to others', async () => {
    const page = await show('/event-logs?q=event&from=now-2h')
    await openFirst(page)
    await page.keyboard.press('l')
    await eventually(async () => expect(await copied(page)).toContain('/event-logs?'))
    const link = new URL(await copied(page))
    const shown = await rowTexts(page)
    await server.event({ payload: 'event of later' })
    await server.total('event', 32)
    const other = await open(server.url, { path: link.pathname + link.search, key: LOGS_KEY })
    await panelOf(other.page).getByText('event 29').waitFor()
    await expectRows(other.page, shown)
    expect(Object.keys(paramsOf(other.page)).sort()).toEqual(['from', 'id', 'q', 'to'])
  })

  test('a link to one that is not in the list shows it all the same', async () => {
    const { data } = await server.client.get<{ items: { id: string }[] }>('/api/event-logs?q=event&limit=1&order=asc')
    const page = await show(`/event-logs?q=price&id=${data.items[0]?.id}`)
    await panelOf(page).getByText('event 0').waitFor()
  })

  test('a link to one that is not kept any more says so, and leads on', async () => {
    tolerate(/status of 404/)
    const page = await show('/event-logs?id=01981f2e-7c1a-7000-8000-9a3c5b7d1e42')
    await page.getByText('The log of this address is not there').waitFor()
    await page.getByRole('button', { name: 'Go on without it' }).click()
    await eventually(() => expect(paramsOf(page)).toEqual({}))
  })

  test('is shown as far as what was searched for, which is marked', async () => {
    const skus = Array.from({ length: 900 }, (_, index) => `SKU-${index}`)
    await server.application({ message: `dump ${skus.join()}`, timestamp: ago(120) })
    await eventually(async () => (await server.client.all('/api/application-logs?q=dump')).length === 1)
    const phone = await show('/application-logs?q="SKU-420"', { width: 390 })
    await phone.locator('tr.log .excerpt', { hasText: 'SKU-420' }).waitFor()
    // The list has the beginning only, so the row reads the whole.
    const further = await show('/application-logs?q="SKU-880"')
    await further.locator('tr.log .excerpt', { hasText: 'SKU-880' }).waitFor()
    const page = await show('/application-logs?q="SKU-420"')
    await page.locator('tr.log .text').click()
    const message = page.locator('tr.detail .message')
    await message.getByRole('button', { name: 'more characters' }).waitFor()
    const mark = message.locator('mark')
    expect(await mark.allTextContents()).toEqual(['SKU-420'])
    // The text before the match is left out, until somebody asks for it.
    expect((await message.textContent())?.length).toBeLessThan(1_800)
    expect((await mark.boundingBox())?.y).toBeLessThan(800)
    await message.getByRole('button', { name: 'more characters' }).click()
    expect(await message.textContent()).toBe(`dump ${skus.join()}`)
    await page.getByRole('combobox', { name: 'Search' }).fill('dump')
    await page.keyboard.press('Enter')
    await eventually(async () => expect(await message.locator('mark').allTextContents()).toEqual(['dump']))
    await page.getByRole('combobox', { name: 'Search' }).fill('"SKU-420"')
    await page.keyboard.press('Enter')
    await eventually(async () => expect(await mark.allTextContents()).toEqual(['SKU-420']))
    await message.click()
    await openFirst(page)
    await tab(page, 'JSON')
    const [found, code] = ['.json mark', '.json pre'].map((each) => page.locator(each))
    await found?.waitFor()
    const [place, room] = [await found?.boundingBox(), await code?.boundingBox()]
    expect((place?.y ?? 0) - (room?.y ?? 0)).toBeGreaterThan(0)
    expect((room?.y ?? 0) + (room?.height ?? 0) - (place?.y ?? 0)).toBeGreaterThan(10)
  })

  test('a name that is too long has its button for the rest around all of the text', async () => {
    await server.application({ message: 'long name', scopeData: { ['level.'.repeat(80)]: 1 }, timestamp: ago(130) })
    await eventually(async () => expect(await server.client.all('/api/application-logs?q="long name"')).toHaveLength(1))
    const panel = await openFirst(await show('/application-logs?q="long name"'))
    const more = panel.getByRole('rowheader').getByRole('button', { name: /more characters/ })
    expect(await more.evaluate((button) => button.scrollHeight - button.clientHeight)).toBe(0)
    expect(await more.evaluate((button) => button.scrollWidth - button.clientWidth)).toBe(0)
  })

  test('of blanks alone says so in the list, in full and in its flow, as do values', async () => {
    const blank = {
      categoryName: 'Acme.Blank',
      timestamp: ago(140),
      correlationKey: 'blank-1',
      scopeData: { tenant: ' ' },
    }
    await server.application({ ...blank, message: ' ' })
    await server.event({ payload: '\n\t', timestamp: ago(140), correlationKey: 'blank-1' })
    await eventually(async () =>
      expect(await server.client.all('/api/application-logs?category=Acme.Blank')).toHaveLength(1),
    )
    const page = await show('/application-logs?category=Acme.Blank')
    await expectRows(page, ['(blank)'])
    const panel = await openFirst(page)
    expect(await panel.locator('.message').textContent()).toBe('(blank)')
    await panel.getByRole('row', { name: 'tenant' }).first().getByText('(blank)').waitFor()
    await page.keyboard.press('f')
    await page.waitForURL('**/flows/blank-1')
    await eventually(async () => expect(await page.locator('.flow-list').getByText('(blank)').count()).toBe(2))
  })

  test('has its frames in sight on a phone below an exception with a long message, which is shown on demand', async () => {
    const message = Array.from({ length: 700 }, (_, index) => `part${index}`).join(' ')
    const exception = `Acme.TooLong: ${message}\n   at Acme.Cart.Add() in /src/Cart.cs:line 12`
    await server.application({ categoryName: 'Acme.Long', timestamp: ago(150), exception })
    await eventually(async () =>
      expect(await server.client.all('/api/application-logs?category=Acme.Long')).toHaveLength(1),
    )
    const page = await show('/application-logs?category=Acme.Long', { width: 390, height: 844 })
    const panel = await openFirst(page)
    await tab(page, 'Exception')
    const frame = panel.getByText('Acme.Cart.Add()')
    await frame.waitFor()
    expect((await frame.boundingBox())?.y).toBeLessThan(844)
    await panel.getByRole('button', { name: /^Show [\d,]+ more characters$/ }).click()
    await panel.getByText('part699').waitFor()
  })

  test('is closed, and its context chosen, by what is in sight on a small phone', async () => {
    const flow = { level: 'Information', correlationKey: 'order-small' }
    await server.application({ categoryName: 'Acme.Small', timestamp: ago(160), ...flow })
    const small = '/application-logs?category=Acme.Small'
    await eventually(async () => expect(await server.client.all(`/api${small}`)).toHaveLength(1))
    const page = await show(small, { width: 320, height: 568 })
    const panel = await openFirst(page)
    await tab(page, 'Context')
    const head = await panel.locator('.head').boundingBox()
    const close = await panel.getByRole('button', { name: 'Close' }).boundingBox()
    // In one line with the level.
    expect((head?.height ?? 0) - (close?.height ?? 0)).toBeLessThan(24)
    expect(close?.width).toBe(close?.height)
    const ways = panel.getByRole('group', { name: 'Context of' })
    const right = await ways.evaluate((one) => one.lastElementChild?.getBoundingClientRect().right)
    expect(right).toBeLessThanOrEqual(320)
  })

  describe('the keys', () => {
    test('leave out logs like it, open its flow, and are all told by ?', async () => {
      const page = await show('/event-logs?q=price')
      await page.keyboard.press('j')
      await page.keyboard.press('x')
      await eventually(() => expect(paramsOf(page)).toEqual({ q: 'price -step:order-placed.ship' }))
      await page.keyboard.press('?')
      const help = page.getByRole('dialog', { name: 'Keyboard' })
      const told = await help.locator('dt').allTextContents()
      expect(told).toEqual(
        expect.arrayContaining(['Search', 'Time', 'Next log', 'Live', 'Copy the link', 'Open the flow']),
      )
      await page.keyboard.press('Escape')
      await page.goBack()
      await page.locator('tr.log').waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('f')
      await page.waitForURL('**/flows/order-3')
    })
  })
})
