import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import {
  expectRows,
  LOGS_KEY,
  type LogsServer,
  overflow,
  PROJECT,
  paramsOf,
  QUIET_KEY,
  STORE_AWAY,
  startLogsServer,
} from '../support/page-logs.ts'
import { type BareServer, startBare } from '../support/raw-http.ts'

describeWithBrowser('watches', ({ open, tolerate }) => {
  let server: LogsServer
  let receiver: BareServer
  let hook: string
  const bodies: string[] = []
  beforeAll(async () => {
    receiver = await startBare(async (request, response) => {
      bodies.push(Buffer.concat(await request.toArray()).toString())
      response.writeHead(request.url === '/down' ? 500 : 200).end()
    })
    hook = receiver.url
    server = await startLogsServer({ WATCH_INTERVAL_MS: '1000', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' })
    await server.event({ payload: 'declined', level: 'Error' })
    await server.total('event', 1)
  }, 90_000)
  afterAll(async () => {
    await server.close()
    await receiver.close()
  })

  const show = (path: string, options = {}) =>
    open(server.url, { path, key: LOGS_KEY, reducedMotion: true, ...options })
  const make = (fields: object = {}, url = hook) =>
    server.client.post('/api/team/watches', {
      name: 'Declined',
      condition: { type: 'count', list: 'event-logs', params: { q: 'declined' }, more: 0, minutes: 60 },
      webhook: { url, format: 'json' },
      ...fields,
    })

  test('are made from a search by keyboard, say their secret once, fire, and show what they did', async () => {
    const { page } = await show('/event-logs?q=declined&level=Error')
    await page.getByRole('button', { name: 'Saved', exact: true }).press('Enter')
    await page.getByRole('link', { name: 'Watch this search' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'New watch' })
    await eventually(async () => expect(await dialog.getByLabel('Search').inputValue()).toBe('declined'))
    expect(await dialog.getByLabel('Level').inputValue()).toBe('Error')
    await dialog.getByLabel('Name', { exact: true }).fill('Declined cards')
    await dialog.getByLabel('More logs than').fill('0')
    await dialog.getByLabel('Webhook').fill(hook)
    await page.keyboard.press('Enter')
    const secret = page.getByRole('dialog', { name: 'The secret of this watch' })
    await secret.getByText(/^whsec_/).waitFor()
    await secret.getByRole('button', { name: 'Done' }).click()
    const panel = page.locator('details', { hasText: 'Declined cards' })
    await panel.locator('summary').press('Enter')
    await panel.getByText('1 log within 5 min, more than 0.').waitFor({ timeout: 30_000 })
    await panel.getByText('delivered', { exact: true }).waitFor({ timeout: 30_000 })
    expect(new URL(page.url()).pathname).toBe('/watches')
    expect(JSON.parse(bodies[0] ?? '').data.watch.name).toBe('Declined cards')
    await panel.getByRole('link', { name: 'See what matches now' }).press('Enter')
    await expectRows(page, ['declined'])
    expect(paramsOf(page)).toEqual({ q: 'declined', level: 'Error', from: 'now-5m' })
  })

  test('of a whole day lead to the logs of the last 24 hours, by that name', async () => {
    const condition = { type: 'count', list: 'event-logs', params: { q: 'daily' }, more: 0, minutes: 1_440 }
    await make({ name: 'Daily', condition })
    const { page } = await show('/watches')
    const panel = page.locator('details', { hasText: 'Daily' })
    await panel.locator('summary').press('Enter')
    await panel.getByRole('link', { name: 'See what matches now' }).press('Enter')
    await page.getByRole('button', { name: 'Last 24 hours' }).waitFor()
    expect(paramsOf(page)).toEqual({ q: 'daily', from: 'now-24h' })
  })

  test('are tested, changed, paused and deleted; a refusal says what to change', async () => {
    tolerate(/status of 400/)
    await make({ name: 'Broken' }, `${hook}/down`)
    const { page } = await show('/watches')
    const panel = page.locator('details', { hasText: 'Broken' })
    await panel.locator('summary').click()
    await panel.getByRole('button', { name: 'Send a test' }).click()
    await panel.getByRole('status').getByText('The receiver answered 500.').waitFor()
    await panel.getByText(/^A message is on its way/).waitFor({ timeout: 30_000 })
    await panel.locator('summary').getByText('not delivered').waitFor()
    await panel.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog', { name: 'Broken' })
    await dialog.getByLabel('Webhook').fill('https://10.0.0.1/hook')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText(/10\.0\.0\.1 has a private address/).waitFor()
    await dialog.getByLabel('Webhook').fill(hook)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await panel.getByRole('button', { name: 'Pause' }).click()
    await panel.locator('summary').getByText('paused').waitFor()
    await panel.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog', { name: 'Delete' }).getByRole('button', { name: 'Delete' }).click()
    await eventually(async () => expect(await panel.count()).toBe(0))
  })

  test('keep a level that the API was given in another case, when something else is changed', async () => {
    const params = { level: 'error' }
    await make({ name: 'Loud', condition: { type: 'count', list: 'event-logs', params, more: 0, minutes: 60 } })
    const { page } = await show('/watches')
    const panel = page.locator('details', { hasText: 'Loud' })
    await panel.locator('summary').click()
    await panel.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog', { name: 'Loud' })
    expect(await dialog.getByLabel('Level').inputValue()).toBe('Error')
    await dialog.getByLabel('More logs than').fill('3')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await panel.getByText('More than 3 event logs in 1 h: Error or worse').waitFor()
  })

  test('of an exception are named after it, and fire when it comes again', async () => {
    await server.application({ message: 'no discount', level: 'Error', exception: 'Acme.DiscountError: none' })
    await server.total('application', 1)
    const { page } = await show('/application-logs?group=exception')
    await page.getByRole('link', { name: /Acme\.DiscountError/ }).click()
    await page.getByRole('button', { name: 'Remove exception Acme.DiscountError' }).waitFor()
    await page.getByRole('button', { name: 'Saved', exact: true }).click()
    await page.getByRole('link', { name: 'Watch this search' }).click()
    const dialog = page.getByRole('dialog', { name: 'New watch' })
    await dialog.getByText('Also selected by exception Acme.DiscountError', { exact: true }).waitFor()
    expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('Acme.DiscountError')
    expect(await dialog.getByLabel('More logs than').inputValue()).toBe('0')
    await dialog.getByLabel('Webhook').fill(hook)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Done' }).click()
    const panel = page.locator('details', { hasText: 'Acme.DiscountError' })
    await panel
      .locator('summary')
      .getByText('More than 0 application logs in 5 m: exception Acme.DiscountError')
      .waitFor()
    expect(paramsOf(page)).toEqual({})
  })

  test('say at a glance that a message was given up', async () => {
    await make({ name: 'Lost' })
    const { page } = await open(server.url, { key: LOGS_KEY, reducedMotion: true })
    await page.route(/watches$/, async (route) => {
      const answer = await route.fetch()
      const { data, ...rest } = JSON.parse(await answer.text())
      const gaveUpAt = new Date(Date.now() - 7_200_000).toISOString()
      const items = data.items.map((watch: { name: string }) =>
        watch.name === 'Lost' ? { ...watch, gaveUpAt } : watch,
      )
      await route.fulfill({ response: answer, json: { ...rest, data: { items } } })
    })
    await page.getByRole('link', { name: 'Watches' }).click()
    await page.locator('summary', { hasText: 'Lost' }).getByText('gave up', { exact: true }).click()
    await page.getByText(/^The last message was given up 2 h ago, after a day of attempts/).waitFor()
    expect(await page.getByText('gave up', { exact: true }).count()).toBe(1)
  })

  test('name the Project and the Step that they select by, not their ids', async () => {
    const params = { level: 'Error', project: PROJECT }
    await make({ name: 'Billing', condition: { type: 'newGroup', by: 'exception', params } })
    await make({ name: 'Charges', condition: { type: 'flows', state: 'failed', event: 'order-placed' } })
    const { page } = await show(`/watches?new=event-logs&step=order-placed.charge`, { width: 1_280, height: 800 })
    await page.getByText('Also selected by step Charge').waitFor()
    // All of the form is in sight.
    const { y = 0, height = 0 } = (await page.getByRole('button', { name: 'Create the watch' }).boundingBox()) ?? {}
    const dialog = await page.getByRole('dialog').boundingBox()
    expect(y + height).toBeLessThan((dialog?.y ?? 0) + (dialog?.height ?? 0))
    await page.keyboard.press('Escape')
    await page.getByText('A new exception: Error or worse, project Checkout API').waitFor()
    await page.getByText('A flow fails: Order placed').waitFor()
  })

  test('of a single level say that worse ones do not count', async () => {
    const params = { level: 'Error', levelMax: 'Error' }
    await make({ name: 'Errors', condition: { type: 'count', list: 'event-logs', params, more: 0, minutes: 90 } })
    const { page } = await show('/watches?new=event-logs&level=Error&levelMax=Error')
    await page.getByText('Also selected by nothing worse than Error').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('More than 0 event logs in 1 h 30 m: Error or worse, nothing worse than Error').waitFor()
  })

  test('keep what was typed for one type while another is looked at', async () => {
    const { page } = await show('/watches')
    await page.getByRole('button', { name: 'New watch' }).click()
    const type = page.getByLabel('Fires when')
    await page.getByLabel('Search', { exact: true }).fill('timeout')
    await page.getByLabel('More logs than').fill('77')
    await type.selectOption('a flow fails or stalls')
    await page.getByLabel('Search', { exact: true }).waitFor({ state: 'hidden' })
    await type.selectOption('there are more logs than a number')
    expect(await page.getByLabel('Search', { exact: true }).inputValue()).toBe('timeout')
    expect(await page.getByLabel('More logs than').inputValue()).toBe('77')
    // A field out of sight is not asked for.
    await page.getByLabel('More logs than').fill('')
    await type.selectOption('a flow fails or stalls')
    await page.getByLabel('Name', { exact: true }).fill('Failing flows')
    await page.getByLabel('Webhook').fill(hook)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Done' }).click()
    await page.locator('details', { hasText: 'Failing flows' }).getByText('A flow fails').waitFor()
  })

  test('keep what was typed when one clicks beside their dialog, which closes it before', async () => {
    const { page } = await show('/watches')
    const dialog = page.getByRole('dialog', { name: 'New watch' })
    const openIt = async () => {
      await page.getByRole('button', { name: 'New watch' }).click()
      await dialog.waitFor()
    }
    await openIt()
    await page.mouse.click(5, 400)
    await dialog.waitFor({ state: 'detached' })
    await openIt()
    await dialog.getByLabel('Search', { exact: true }).fill('a long search')
    await page.mouse.click(5, 400)
    expect(await dialog.getByLabel('Search', { exact: true }).inputValue()).toBe('a long search')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  test('give the focus back after all that was asked and shown', async () => {
    const { page } = await show('/watches')
    const focused = () => page.evaluate<string>('document.activeElement.textContent')
    await page.getByRole('button', { name: 'New watch' }).press('Enter')
    await page.getByLabel('Name', { exact: true }).fill('Focused')
    await page.getByLabel('Webhook').fill(hook)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Done' }).press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await focused()).toBe('New watch')
    const panel = page.locator('details', { hasText: 'Focused' })
    await panel.locator('summary').press('Enter')
    await panel.getByRole('button', { name: 'Send a test' }).press('Enter')
    await panel.getByRole('status').getByText('The receiver answered 200.').waitFor()
    expect(await focused()).toBe('Send a test')
    await panel.getByRole('button', { name: 'Delete' }).press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter')
    await panel.waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
    expect(new URL(page.url()).search).toBe('')
  })

  test('say that the one of a link is not there, and that one is gone while it is looked at', async () => {
    tolerate(/status of 404/)
    const { data } = await make({ name: 'Short-lived' })
    const { page } = await show(`/watches?id=${data['id']}`)
    const gone = page.getByText('The watch of this address is not there')
    await page.locator('details', { hasText: 'Short-lived' }).getByRole('button', { name: 'Edit' }).waitFor()
    expect(await gone.count()).toBe(0)
    await fetch(`${server.url}/api/team/watches/${data['id']}`, {
      method: 'DELETE',
      headers: { 'x-api-key': LOGS_KEY },
    })
    await gone.waitFor()
    await page.getByRole('button', { name: 'Go on without it' }).click()
    await gone.waitFor({ state: 'detached' })
    expect(paramsOf(page)).toEqual({})
  })

  test('that cannot be deleted say why in the dialog, which has room for a long name', async () => {
    tolerate(/status of 503/)
    const name = 'W'.repeat(120)
    await make({ name })
    const { page } = await show('/watches')
    const panel = page.locator('details', { hasText: name })
    await panel.locator('summary').click()
    await panel.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete' })
    expect(await dialog.evaluate((node) => node.scrollWidth - node.clientWidth)).toBe(0)
    await page.route(/api\/team\/watches\/\w/, (route) => route.fulfill(STORE_AWAY))
    await dialog.getByRole('button', { name: 'Delete' }).press('Enter')
    await dialog.getByRole('alert').getByText('could not answer').waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Delete')
  })

  test('are one line while their script is on its way, and where it cannot be loaded', async () => {
    tolerate(/team-pages/)
    const { page } = await show('/refused')
    const { promise: refused, resolve: refuse } = Promise.withResolvers<void>()
    await page.route(/team-pages/, async (route) => {
      await refused
      await route.abort()
    })
    await page.getByRole('link', { name: 'Watches' }).click()
    const line = page.locator('main > *')
    const height = () => line.evaluate((node) => node.getBoundingClientRect().height)
    await page.locator('main > .busy').waitFor()
    expect(await height()).toBe(2)
    refuse()
    await line.getByText('This part of the page could not be loaded.').waitFor()
    expect(await height()).toBeLessThan(100)
  })

  test('of an Event keep it, also where the Events cannot be read', async () => {
    tolerate(/status of 503/)
    const condition = { type: 'flows', state: 'failed', event: 'order-placed' }
    const { data } = await make({ name: 'Orders', condition })
    const { page } = await show('/watches')
    await page.route(/api\/team$/, (route) => route.fulfill(STORE_AWAY))
    const panel = page.locator('details', { hasText: 'Orders' })
    await panel.locator('summary').click()
    await panel.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog', { name: 'Orders' })
    await dialog.getByLabel('Name', { exact: true }).fill('Failed orders')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const saved = await server.client.get<object>(`/api/team/watches/${data['id']}`)
    expect(saved.data).toMatchObject({ name: 'Failed orders', condition })
  })

  test('say that their history could not be read', async () => {
    tolerate(/status of 503/)
    await make({ name: 'Unread' })
    const { page } = await show('/watches')
    await page.route(/api\/team\/watches\/\w/, (route) => route.fulfill(STORE_AWAY))
    const panel = page.locator('details', { hasText: 'Unread' })
    await panel.locator('summary').click()
    await panel.getByRole('alert').getByText('could not answer').waitFor()
  })

  test('of one Team are nobody else’s', async () => {
    await make()
    const { page } = await show('/watches', { key: QUIET_KEY })
    await page.getByText('The Team has no watch yet.').waitFor()
  })

  test.each([1_280, 390])('axe finds nothing, and nothing is wider than the screen (%d wide)', async (width) => {
    const condition = {
      type: 'count',
      list: 'event-logs',
      params: { q: `long${'x'.repeat(200)}` },
      more: 1,
      minutes: 5,
    }
    await make({ name: `Long ${'name'.repeat(60)}`, condition })
    const { page, axe } = await show('/watches', { width, height: 800 })
    const panel = page.locator('details', { hasText: 'Long' })
    await panel.first().locator('summary').click()
    await page.getByRole('button', { name: 'Send a test' }).waitFor()
    expect([await overflow(page), await axe()]).toEqual([0, []])
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('dialog').getByLabel('Webhook').waitFor()
    expect([await overflow(page), await axe()]).toEqual([0, []])
  })
})
