import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { LOGS_KEY, type LogsServer, startLogsServer } from '../support/page-logs.ts'

const COUNT = 700
const NOW = Date.now()

/** The word of a log, out of eighty without digits, which a template of messages would leave out. */
const wordOf = (index: number): string => String.fromCharCode(97 + (index % 80) / 10, 97 + (index % 10))

/** Logs a second apart, each of a flow of its own. */
const logs = Array.from({ length: COUNT }, (_, index) => ({
  message: `log ${index} ${wordOf(index)}`,
  categoryName: `Acme.Part${index % 80}`,
  correlationKey: `order-${index}`,
  timestamp: new Date(NOW - 60_000 - index * 1_000).toISOString(),
}))

describeWithBrowser('going back', ({ open }) => {
  let server: LogsServer
  let count = COUNT
  beforeAll(async () => {
    server = await startLogsServer()
    await server.applications(logs)
    await server.total('application', COUNT)
    await eventually(async () => {
      const { data } = await server.client.get<{ items: unknown[] }>('/api/flows?limit=1000')
      return data.items.length === COUNT
    })
  }, 90_000)
  afterAll(() => server.close())

  const sendNewer = async (many: number): Promise<void> => {
    await server.applications(Array.from({ length: many }, () => ({ message: 'newer', categoryName: 'Acme.Part0' })))
    count += many
    await server.total('application', count)
  }
  const show = async (path: string, options = {}): Promise<Page> => {
    const { page } = await open(server.url, { path, key: LOGS_KEY, reducedMotion: true, ...options })
    await page.locator('[data-id]').first().waitFor()
    return page
  }
  const link = (page: Page, text: string) => page.locator('[data-id]', { hasText: text }).locator('a')
  /** Scrolls down until the row is in the middle of the window; returns its distance from the top of the window. */
  const readTo = async (page: Page, text: string): Promise<number> => {
    await eventually(async () => {
      const box = await link(page, text).evaluateAll(([one]) => one?.getBoundingClientRect().top)
      if (box !== undefined && box > 200 && box < 500) return true
      await page.evaluate(`scrollBy(0, ${box === undefined ? 700 : box - 350})`)
      return false
    }, 20_000)
    return topOf(page, text)
  }
  const topOf = (page: Page, text: string): Promise<number> =>
    link(page, text).evaluate((one) => one.closest('[data-id]')?.getBoundingClientRect().top ?? Number.NaN)
  /** Waits until the row is as far from the top of the window as it was. */
  const expectAt = (page: Page, text: string, top: number): Promise<void> =>
    eventually(async () => expect(Math.abs((await topOf(page, text)) - top)).toBeLessThan(2))
  const focusedRow = (page: Page): Promise<string> =>
    page.evaluate('document.activeElement.closest("[data-id]")?.textContent ?? document.activeElement.tagName')
  const expectFocus = (page: Page, text: string): Promise<void> =>
    eventually(async () => expect(await focusedRow(page)).toContain(text))
  const goBackTo = async (page: Page, text: string, top: number): Promise<void> => {
    await page.goBack()
    await expectAt(page, text, top)
    await expectFocus(page, text)
  }

  test('from a flow leads to its row, also if logs have come meanwhile, and the keys go on there', async () => {
    const page = await show('/application-logs')
    const top = await readTo(page, 'log 400')
    for (const newer of [0, 30]) {
      await link(page, 'log 400').click()
      await page.waitForURL('**/flows/order-400')
      await sendNewer(newer)
      await goBackTo(page, 'log 400', top)
    }
    await page.keyboard.press('j')
    await expectFocus(page, 'log 401')
  })

  test('and forward, and reading the page again, keep the place', async () => {
    const page = await show('/application-logs')
    const top = await readTo(page, 'log 300')
    await page.getByRole('link', { name: 'Flows', exact: true }).click()
    await page.waitForURL('**/flows')
    await page.goBack()
    await expectAt(page, 'log 300', top)
    const further = await readTo(page, 'log 350')
    await eventually(() => page.evaluate(`history.state.scroll === scrollY`))
    await page.goForward()
    await page.waitForURL('**/flows')
    await page.goBack()
    await expectAt(page, 'log 350', further)
    await page.reload()
    await expectAt(page, 'log 350', further)
  })

  test('is kept when the page is read again beside an opened log, and after that was closed', async () => {
    const page = await show('/application-logs')
    await readTo(page, 'log 300')
    const row = page.locator('[data-id]', { hasText: 'log 300' })
    await row.locator('.time').focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/application-logs?id=*')
    await page.reload()
    await row.waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL('**/application-logs')
    await page.reload()
    await row.waitFor()
  })

  test('from another filter leads to the place in the list before, and a filter after that begins at the top', async () => {
    const page = await show('/application-logs')
    const filters = page.getByRole('complementary', { name: 'Filters' })
    await filters.getByRole('button', { name: 'Below Acme' }).click()
    const top = await readTo(page, 'log 300')
    await filters.getByRole('button', { name: 'Part7 9', exact: true }).click()
    await page.getByText('9 logs', { exact: true }).waitFor()
    await page.goBack()
    await expectAt(page, 'log 300', top)
    await page.goForward()
    await page.getByText('9 logs', { exact: true }).waitFor()
    await link(page, 'log 7').first().waitFor()
    expect(await page.evaluate('scrollY')).toBe(0)
  })

  test('holds for a live list, which waits there', async () => {
    const page = await show('/application-logs?live=1')
    const top = await readTo(page, 'log 250')
    await link(page, 'log 250').click()
    await page.waitForURL('**/flows/order-250')
    await page.goBack()
    await expectAt(page, 'log 250', top)
    await page.locator('.tail.paused').waitFor()
    await sendNewer(1)
    await page.getByRole('button', { name: '1 new' }).waitFor()
    await expectAt(page, 'log 250', top)
  })

  test('to a window of another width finds the row all the same', async () => {
    const page = await show('/application-logs')
    const top = await readTo(page, 'log 400')
    await link(page, 'log 400').click()
    await page.waitForURL('**/flows/order-400')
    await page.setViewportSize({ width: 390, height: 900 })
    await page.goBack()
    await expectAt(page, 'log 400', top)
  })

  test('leads to the group, and the keys go on there', async () => {
    const page = await show('/application-logs?group=template')
    await page.getByRole('button', { name: 'Show up to 200' }).click()
    const top = await readTo(page, 'log <*> hf')
    await link(page, 'log <*> hf').click()
    await page.waitForURL('**template=**')
    await goBackTo(page, 'log <*> hf', top)
    await page.keyboard.press('k')
    expect(await focusedRow(page)).not.toContain('log <*> hf')
  })

  test('leads to the flow in the list of flows, and the keys go on there', async () => {
    const page = await show('/flows')
    await page.getByRole('button', { name: 'Load more flows' }).click()
    await link(page, 'order-95').waitFor()
    const top = await readTo(page, 'order-80')
    await link(page, 'order-80').click()
    await page.waitForURL('**/flows/order-80')
    await goBackTo(page, 'order-80', top)
    await page.keyboard.press('j')
    await expectFocus(page, 'order-81')
  })

  test('to a list that was not scrolled shows what has come meanwhile', async () => {
    await sendNewer(1)
    const page = await show('/application-logs?q=newer')
    await page.getByRole('link', { name: 'Flows', exact: true }).click()
    await page.waitForURL('**/flows**')
    await sendNewer(40)
    await page.goBack()
    await page.getByText(`${count - COUNT} logs`, { exact: true }).waitFor()
    expect(await page.evaluate('scrollY')).toBe(0)
  })
})
