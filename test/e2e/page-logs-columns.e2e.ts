import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROW_TEXT_CHARACTERS_MAX } from '../../shared/contract/rows.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import {
  expectRows,
  LOGS_KEY,
  type LogsServer,
  overflow,
  PROJECT,
  paramsOf,
  startLogsServer,
} from '../support/page-logs.ts'

const NOW = Date.now()
const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString()
const USUAL = ['Time ', 'Level', 'Environment', 'Project', 'Category', 'Message', 'Flow']
/** So many logs that a list reads them in three goes. */
const MANY = 250

describeWithBrowser('the columns of a list', ({ open }) => {
  let server: LogsServer
  beforeAll(async () => {
    server = await startLogsServer()
    await server.applications([
      { message: 'short', timestamp: ago(10), scopeData: { tenant: 'acme', 'a:b c': 'odd' }, eventId: 7 },
      {
        message: 'long',
        timestamp: ago(20),
        scopeData: { text: 'x'.repeat(ROW_TEXT_CHARACTERS_MAX), tenant: 'globex' },
      },
      { message: 'none', timestamp: ago(30) },
    ])
    await server.event({ payload: '{"order":{"id":4711}}', timestamp: ago(5) })
    await server.applications(
      Array.from({ length: MANY }, (_, index) => ({
        message: `many ${index}`,
        categoryName: 'Many',
        timestamp: ago(100 + index),
        scopeData: { tenant: `t${index}` },
      })),
    )
    await server.total('application', MANY + 3)
    await server.total('event', 1)
  }, 90_000)
  afterAll(() => server.close())

  const show = async (path: string, options = {}) => {
    const opened = await open(server.url, { path, key: LOGS_KEY, reducedMotion: true, ...options })
    await opened.page.locator('tr.log').first().waitFor()
    return opened
  }
  const SHORT = '/application-logs?category=Acme'
  const heads = (page: Page) => page.locator('.log-table th').allTextContents()
  const expectHeads = (page: Page, expected: readonly string[]): Promise<void> =>
    eventually(async () => expect(await heads(page)).toEqual(expected))
  const cells = (page: Page, at: number) => page.locator(`tr.log td:nth-child(${at + 1})`).allTextContents()
  const menu = async (page: Page) => {
    await page.getByRole('button', { name: 'Columns', exact: true }).click()
    return page.locator('.menu-form')
  }

  test('a field that the list has no room for is not said to be shown, and becomes one by a click', async () => {
    const { page } = await show(SHORT, { width: 1_360 })
    await page.locator('tr.log', { hasText: 'short' }).click({ position: { x: 60, y: 12 } })
    const button = page.getByRole('button', { name: 'Show environment as a column' })
    await button.waitFor({ state: 'attached' })
    expect(await button.getAttribute('aria-pressed')).toBe('false')
    await button.click()
    await eventually(() => expect(paramsOf(page)['columns']).toBe('level,category,environment,message,correlationKey'))
    expect(await button.getAttribute('aria-pressed')).toBe('true')
    await button.click()
    await eventually(() => expect(paramsOf(page)['columns']).toBe('level,category,message,correlationKey'))
  })

  test('a value of a log becomes one from its panel, also for logs whose row is cut; the link shares it', async () => {
    const { page } = await show(SHORT)
    await page.locator('tr.log', { hasText: 'short' }).locator('.at button').press('Enter')
    const panel = page.getByRole('complementary', { name: 'Log' })
    await panel.getByRole('button', { name: 'Show scope.tenant as a column' }).click()
    await expectHeads(page, ['Time ', 'Level', 'Environment', 'Project', 'Category', 'tenant', 'Message', 'Flow'])
    await eventually(async () => expect(await cells(page, 5)).toEqual(['acme', 'globex', '']))
    expect(paramsOf(page)['columns']).toBe('level,environment,project,category,scope.tenant,message,correlationKey')
    const other = await show(page.url().slice(server.url.length))
    await eventually(async () => expect(await cells(other.page, 5)).toEqual(['acme', 'globex', '']))

    await panel.getByRole('button', { name: 'Show scope.a:b c as a column' }).click()
    await eventually(async () => expect(await cells(page, 6)).toEqual(['odd', '', '']))
    await panel.getByRole('button', { name: 'Show eventId as a column' }).click()
    await eventually(async () => expect(await cells(page, 7)).toEqual(['7', '', '']))
    await panel.getByRole('button', { name: 'Show scope.tenant as a column' }).click()
    await eventually(async () => expect((await heads(page)).slice(5, 7)).toEqual(['a:b c', 'Event id']))
  })

  test('are as they were where one that is first is moved on to the left', async () => {
    const { page } = await show(`${SHORT}&project=${PROJECT}`)
    const form = await menu(page)
    await form.getByRole('button', { name: 'Move Level to the left' }).press('Enter')
    await form.getByRole('button', { name: 'Move Flow to the right' }).press('Enter')
    expect(paramsOf(page)).not.toHaveProperty('columns')
  })

  test('are chosen, put into another order and taken back by keyboard alone', async () => {
    const { page } = await show(SHORT, { width: 1_600 })
    await page.getByRole('button', { name: 'Columns', exact: true }).focus()
    await page.keyboard.press('Enter')
    // The first box has the focus: the level's.
    await page.keyboard.press('Space')
    await expectHeads(
      page,
      USUAL.filter((name) => name !== 'Level'),
    )
    await page.keyboard.press('Space')
    await expectHeads(page, ['Time ', 'Environment', 'Project', 'Category', 'Level', 'Message', 'Flow'])
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expectHeads(page, ['Time ', 'Environment', 'Project', 'Level', 'Category', 'Message', 'Flow'])
    await page.keyboard.press('Enter')
    await expectHeads(page, ['Time ', 'Environment', 'Level', 'Project', 'Category', 'Message', 'Flow'])
    await page.getByLabel('Another value of the logs').focus()
    await page.keyboard.type('tenant')
    await page.keyboard.press('Enter')
    await eventually(async () => expect(await cells(page, 5)).toEqual(['acme', 'globex', '']))
    // The box of a value goes with it, and leaves the focus in the menu.
    await page.getByRole('checkbox', { name: 'tenant' }).press('Space')
    await page.getByRole('checkbox', { name: 'tenant' }).waitFor({ state: 'detached' })
    await page.keyboard.type('a,b')
    await page.keyboard.press('Enter')
    await page.getByText('Write a name such as scope.order.id, without a comma.').waitFor()
    await page.getByRole('button', { name: 'Usual columns' }).press('Enter')
    await expectHeads(page, USUAL)
    expect(paramsOf(page)).toEqual({ category: 'Acme' })
    await page.keyboard.press('Escape')
    expect(await page.locator('.menu-form').count()).toBe(0)
  })

  test('are those that the list has room for; a further one is added to them', async () => {
    const { page } = await show(SHORT, { width: 768 })
    const form = await menu(page)
    const ticked = () => form.locator('label:has(:checked)').allTextContents()
    expect(await ticked()).toEqual(['Level', 'Category', 'Message', 'Flow'])
    await form.getByRole('checkbox', { name: 'Project' }).check()
    await expectHeads(page, ['Time ', 'Level', 'Category', 'Project', 'Message', 'Flow'])
    expect(await page.getByRole('columnheader', { name: 'Project' }).isVisible()).toBe(true)
    expect(await ticked()).toEqual(['Level', 'Category', 'Project', 'Message', 'Flow'])
    await form.getByRole('button', { name: 'Usual columns' }).click()
    await eventually(async () => expect(await ticked()).toEqual(['Level', 'Category', 'Message', 'Flow']))
  })

  test('are remembered, each kind its own; those of a link come first', async () => {
    const { page } = await show(SHORT, { width: 1_600 })
    await (await menu(page)).getByRole('checkbox', { name: 'Flow' }).uncheck()
    const chosen = USUAL.filter((name) => name !== 'Flow')
    await expectHeads(page, chosen)
    await page.goto(`${server.url}/event-logs`)
    await expectHeads(page, ['Time ', 'Level', 'Environment', 'Step', 'Payload', 'Flow'])
    await page.goto(server.url + SHORT)
    await expectHeads(page, chosen)
    expect(paramsOf(page)['columns']).toBe('level,environment,project,category,message')
    await page.goto(`${server.url}/application-logs?columns=message,nonsense,payload.of,level,level`)
    await expectHeads(page, ['Time ', 'Message', 'Level'])
  })

  test('are as wide as they are whatever the rows hold', async () => {
    const { page } = await show(`${SHORT}&columns=level,scope.tenant,message,correlationKey`)
    const widths = () =>
      page.evaluate('[...document.querySelectorAll(".log-table th")].map((each) => each.getBoundingClientRect().left)')
    const before = await widths()
    await page.getByRole('combobox', { name: 'Search' }).fill('long')
    await page.keyboard.press('Enter')
    await expectRows(page, ['long'])
    expect(await widths()).toEqual(before)
  })

  test('come with logs as they arrive', async () => {
    const { page } = await show('/event-logs?live=1&columns=payload.order.id,payload')
    await page.locator('.tail.live').waitFor()
    await server.event({ payload: '{"order":{"id":4712}}' })
    await eventually(async () => expect(await cells(page, 1)).toEqual(['4712', '4711']))
  })

  test('that are added further down leave one where one is', async () => {
    const { page } = await show('/application-logs?category=Many')
    const last = page.locator('tr.log', { hasText: `many ${MANY - 1}` })
    // Rows that are drawn move the end of the page.
    await eventually(async () => {
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
      return (await page.getByText('No older logs in this time').isVisible()) && (await last.isVisible())
    }, 30_000)
    const before = await page.evaluate<number>('scrollY')
    await last.locator('.text').click()
    await page.locator('tr.detail').getByRole('button', { name: 'Show scope.tenant as a column' }).click()
    await eventually(async () => expect(await last.locator('td').nth(5).textContent()).toBe(`t${MANY - 1}`))
    expect(await page.evaluate<number>('scrollY')).toBeGreaterThanOrEqual(before)
  })

  test('rows are lower where one wants them so, also tomorrow', async () => {
    const { page } = await show(SHORT)
    const height = () => page.evaluate<number>('document.querySelector("tr.log").offsetHeight')
    const before = await height()
    await (await menu(page)).getByRole('button', { name: 'Compact' }).click()
    await eventually(async () => expect(await height()).toBeLessThan(before))
    const after = await height()
    await page.reload()
    await page.locator('tr.log').first().waitFor()
    expect(await height()).toBe(after)
  })

  test.each([1_280, 390])('axe finds nothing, and nothing is wider than the screen (%d wide)', async (width) => {
    const path = `${SHORT}&columns=level,environment,category,scope.tenant,eventId,message,correlationKey&q=development`
    const { page, axe } = await show(path, { width, height: 800 })
    await menu(page)
    const { x = -1 } = (await page.locator('.menu-form').boundingBox()) ?? {}
    expect([await overflow(page), Math.min(0, x), await axe()]).toEqual([0, 0, []])
    const density = page.getByRole('group', { name: 'Height of the rows' })
    const [around, inside] = await Promise.all([density, density.getByText('Compact')].map((one) => one.boundingBox()))
    expect(around?.height).toBeGreaterThanOrEqual(inside?.height ?? Number.POSITIVE_INFINITY)
  })
})
