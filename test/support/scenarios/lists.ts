import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { copied, expectRows, paramsOf, readDown, rowIds, rowTexts, SHOWN_MS } from '../page-logs.ts'
import { clientOf, MINUTE, type Stage } from '../page-stand.ts'

const BEGIN = Date.now()
const ago = (minutes: number): string => new Date(BEGIN - minutes * MINUTE).toISOString()

const PAYLOAD = '{"order":{"id":4711},"valid":true}'
/** The payload above, as shown in a row. */
const SHOWN = 'order.id=4711 valid=true'
const EXCEPTION = `System.InvalidOperationException: Invoice 4711 could not be sent
 ---> System.TimeoutException: the bank did not answer
   at System.Net.Http.HttpClient.SendAsync()
   --- End of inner exception stack trace ---
   at Acme.Billing.Invoices.Send(Invoice invoice) in /src/Invoices.cs:line 87
   at Microsoft.Extensions.Hosting.Host.StartAsync()`
const SCOPES = [
  { '{OriginalFormat}': 'Path:{Path}', Message: 'Path:/orders', Path: '/orders', tenant: 'outer' },
  { tenant: 'acme' },
]

/** More than two pages of the list. */
const MANY = 250

/** Point 2: event logs and application logs. */
export function listScenarios(stage: Stage): void {
  const { stand, teams, show } = stage
  const rail = (page: Page) => page.getByRole('complementary', { name: 'Filters' })
  const level = (page: Page, name: string) => page.getByRole('group', { name: 'Levels' }).getByRole('button', { name })
  const search = async (page: Page, text: string): Promise<void> => {
    await page.getByRole('combobox', { name: 'Search' }).fill(text)
    await page.keyboard.press('Enter')
  }

  test('event logs are searched, counted, narrowed, exported and linked to', async () => {
    const client = clientOf(stand(), teams().lists)
    await client.event({ payload: 'accepted', timestamp: ago(50), correlationKey: 'order-1' })
    await client.event({ step: 0, payload: PAYLOAD, timestamp: ago(40) })
    const environment = 'Production'
    await client.event({ step: 1, payload: 'card declined', level: 'Error', timestamp: ago(30), environment })
    await client.event({ step: 1, payload: 'card charged', level: 'Warning', timestamp: ago(20), environment })
    await client.total('event', 4)
    const ALL = ['card charged', 'card declined', SHOWN, 'accepted']

    const { page, context, axe } = await show(teams().lists, '/event-logs?from=now-1h')
    const pages = context.pages()
    await expectRows(page, ALL)
    await eventually(async () =>
      expect(await page.locator('.histogram rect:not(.fade)').count()).toBeGreaterThanOrEqual(4),
    )
    expect(await axe()).toEqual([])

    await search(page, 'payload.order.id:4711')
    await expectRows(page, [SHOWN])
    await search(page, 'card (declined')
    await page.getByText('Searched as text.').waitFor()
    await expectRows(page, ['card declined'])
    await search(page, `-step:${teams().lists.event}.charge level:>=info`)
    await expectRows(page, [SHOWN, 'accepted'])
    await search(page, '')
    await page.locator('tr.log', { hasText: 'declined' }).locator('.text').click()
    const fields = page.locator('tr.detail')
    await fields.getByRole('row', { name: 'level' }).hover()
    await fields.getByRole('button', { name: 'Without this level' }).click()
    await expectRows(page, [ALL[0] ?? '', SHOWN, 'accepted'])
    await page.goBack()
    await page.keyboard.press('Escape')

    await level(page, 'warn').click()
    await expectRows(page, ALL.slice(0, 1))
    await level(page, 'and above').click()
    await expectRows(page, ALL.slice(0, 2))
    expect(await level(page, 'info').textContent()).toBe('info2')
    await level(page, 'warn').click()
    await page.getByRole('combobox', { name: 'Environment' }).selectOption('Production')
    await expectRows(page, ALL.slice(0, 2))
    await page.getByRole('combobox', { name: 'Environment' }).selectOption('')
    // By keyboard: the rail may move when its counts come, and a click would miss it.
    await rail(page).getByRole('button', { name: 'Charge 2' }).press('Enter')
    await expectRows(page, ALL.slice(0, 2))
    expect(await rail(page).getByRole('button', { name: 'Ship 0' }).getAttribute('class')).toContain('none')

    // The export contains the rows that are shown.
    await page.getByRole('button', { name: 'Export and share' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export as NDJSON' }).click(),
    ])
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n')
    expect(lines.map((line) => JSON.parse(line).payload)).toEqual(ALL.slice(0, 2))
    const chip = page.getByRole('button', { name: 'Remove step Charge' })
    await chip.click()
    await expectRows(page, ALL)
    // It goes with the counts, and the histogram moves up.
    await chip.waitFor({ state: 'detached' })

    const { x, y, width } = (await page.locator('.histogram svg').boundingBox()) ?? { x: 0, y: 0, width: 0 }
    await page.mouse.move(x + width * 0.3, y + 30)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.58, y + 30, { steps: 4 })
    await page.mouse.up()
    await expectRows(page, ['card declined', SHOWN])

    await page.keyboard.press('l')
    const link = new URL(await eventually(() => linkIn(page)))
    const { page: other } = await stage.open(link.origin, { key: teams().lists.key, path: link.pathname + link.search })
    await expectRows(other, ['card declined', SHOWN])
    expect(context.pages()).toEqual(pages)
  })

  test('a log tells its fields, scopes, causes and neighbours, and is sent again by a command', async () => {
    const client = clientOf(stand(), teams().entries)
    const scopeData = { Scopes: SCOPES }
    await client.applications([
      { categoryName: 'Microsoft.Hosting.Lifetime', message: 'started', timestamp: ago(45) },
      { categoryName: 'Acme.Shop.Cart', message: 'opened', timestamp: ago(35), eventId: 1001, eventName: 'CartOpened' },
      {
        ...{ categoryName: 'Acme.Billing.Invoices', message: 'not sent', level: 'Error', exception: EXCEPTION },
        ...{ scopeData, timestamp: ago(15), correlationKey: 'order-9' },
      },
    ])
    await client.total('application', 3)
    const { page, axe } = await show(teams().entries, '/application-logs')
    await expectRows(page, [
      'not sent InvalidOperationException: Invoice 4711 could not be sent',
      '[1001 CartOpened] opened',
      'started',
    ])
    await rail(page).getByRole('button', { name: 'Hide Microsoft.*' }).click()
    await eventually(async () => expect(await rowIds(page)).toHaveLength(2))
    await rail(page)
      .getByRole('button', { name: /^Acme 2/ })
      .click()
    await eventually(() => expect(paramsOf(page)['category']).toBe('Acme'))

    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    const panel = page.getByRole('complementary', { name: 'Log', exact: true })
    const scopes = panel.getByRole('table', { name: 'Values of the scopes' })
    expect(await scopes.getByRole('row', { name: 'tenant' }).locator('td').first().textContent()).toBe('acmeouter')
    await panel.getByRole('tab', { name: 'Exception' }).click()
    await panel.getByText('System.TimeoutException').waitFor()
    expect(await panel.locator('.own').textContent()).toContain('Acme.Billing.Invoices.Send')
    await panel.getByRole('tab', { name: 'Context' }).click()
    await panel.locator('[aria-current=true]').getByText('not sent').waitFor()
    expect(await axe()).toEqual([])

    await panel.getByRole('button', { name: 'Copy as cURL' }).click()
    await eventually(async () => expect(await copied(page)).toContain('curl'))
    const command = `${(await copied(page)).replace('<API_KEY>', teams().entries.key)} -s`
    expect(command).toContain(`${stand().gateway}/api/ApplicationLogs`)
    expect(JSON.parse(execFileSync('bash', ['-c', command], { encoding: 'utf8' }))).toMatchObject({ success: true })
    await client.total('application', 4)
    await page.keyboard.press('f')
    await page.waitForURL('**/flows/order-9')
    await page.getByRole('heading', { name: '2 logs', exact: true }).waitFor()
  })

  test('a value inside logs is a column, also of what a row has cut, in a file and in a chart; the search is shared with the Team', async () => {
    const client = clientOf(stand(), teams().members)
    await client.applications([
      { message: 'long', timestamp: ago(2), scopeData: { text: 'x'.repeat(20_000), tenant: 'acme', ms: 12.5 } },
      { message: 'short', timestamp: ago(1), scopeData: { tenant: 'globex', ms: 40 } },
    ])
    await client.total('application', 2)
    const { page } = await show(teams().members, '/application-logs?columns=scope.tenant,message')
    const tenants = (of: Page) => of.locator('tr.log .value').allTextContents()
    await eventually(async () => expect(await tenants(page)).toEqual(['globex', 'acme']), SHOWN_MS)
    await page.getByRole('button', { name: 'Export and share' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export as CSV, the columns shown' }).click(),
    ])
    const file = readFileSync(await download.path(), 'utf8').trim()
    expect(file.split('\r\n')).toEqual([
      'timestamp,scope.tenant,message',
      `${ago(1)},globex,short`,
      `${ago(2)},acme,long`,
    ])
    const { page: chart } = await show(teams().members, '/application-logs?chart=max&value=scope.ms&by=scope.tenant')
    const legend = () => chart.locator('.series').allTextContents()
    await eventually(async () => expect((await legend()).toSorted()).toEqual(['acme12.5', 'globex40']), SHOWN_MS)

    await page.getByRole('button', { name: 'Saved', exact: true }).click()
    await page.getByLabel('Save this search for the Team as').fill('By tenant')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'By tenant' }).waitFor()

    const { page: other } = await show(teams().members, '/event-logs')
    await other.getByRole('button', { name: 'Saved', exact: true }).waitFor()
    await other.keyboard.press('Control+k')
    await other.getByRole('combobox', { name: 'saved search' }).fill('tenant')
    await other.getByRole('option', { name: 'By tenant' }).click()
    await eventually(async () => expect(await tenants(other)).toEqual(['globex', 'acme']), SHOWN_MS)
    expect(paramsOf(other)).toEqual({ columns: 'scope.tenant,message' })
  })

  test('the tail shows logs as they come, and holds them back while one reads', async () => {
    const client = clientOf(stand(), teams().lists)
    const { page } = await show(teams().lists, '/event-logs?q=tailed')
    await page.getByText('Nothing matches').waitFor()
    await page.keyboard.press('t')
    await page.locator('.tail.live').waitFor()
    for (const payload of ['tailed 1', 'tailed 2']) await client.event({ payload })
    const rows = async (texts: readonly string[]): Promise<void> =>
      eventually(async () => expect(await rowTexts(page)).toEqual(texts), SHOWN_MS)
    await rows(['tailed 2', 'tailed 1'])
    await page.locator('tr.log .text').first().click()
    await page.getByRole('button', { name: 'Paused' }).waitFor()
    await client.event({ payload: 'tailed 3' })
    await client.event({ payload: 'not of these' })
    await page.getByRole('button', { name: '1 new' }).waitFor({ timeout: SHOWN_MS })
    expect(await rowTexts(page)).toHaveLength(2)
    await page.getByRole('button', { name: '1 new' }).click()
    await rows(['tailed 3', 'tailed 2', 'tailed 1'])
    await page.getByText('3 logs', { exact: true }).waitFor()
  })

  test('older logs come below as one goes down: every one, in order, none twice', async () => {
    const client = clientOf(stand(), teams().lists)
    const logs = Array.from({ length: MANY }, (_, index) => ({
      message: `row ${index}`,
      // Groups of three share a millisecond.
      timestamp: new Date(BEGIN - Math.floor(index / 3) * 1_000).toISOString(),
    }))
    for (let at = 0; at < MANY; at += 50) await client.applications(logs.slice(at, at + 50))
    await client.total('application', MANY)
    const all = (await client.all('/api/application-logs')).map(({ id }) => id)
    expect(all).toHaveLength(MANY)
    const { page } = await show(teams().lists, '/application-logs')
    await page.getByText(`${MANY} logs`, { exact: true }).waitFor()
    await readDown(page, all)
    await page.getByText('No older logs in this time').waitFor()
  })
}

async function linkIn(page: Page): Promise<string> {
  const text = await copied(page)
  expect(text).toContain('/event-logs?')
  return text
}
