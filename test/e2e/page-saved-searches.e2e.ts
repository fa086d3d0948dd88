import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
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

describeWithBrowser('saved searches', ({ open, tolerate }) => {
  let server: LogsServer
  beforeAll(async () => {
    server = await startLogsServer()
    await server.event({ payload: 'paid' })
    await server.event({ payload: 'declined', level: 'Error', environment: 'Production' })
    await server.total('event', 2)
  }, 90_000)
  afterAll(() => server.close())

  const show = async (path: string, options = {}) => {
    const opened = await open(server.url, { path, key: LOGS_KEY, reducedMotion: true, ...options })
    await opened.page.getByRole('button', { name: 'Saved', exact: true }).waitFor()
    return opened
  }
  const menu = async (page: Page) => {
    await page.getByRole('button', { name: 'Saved', exact: true }).click()
    return page.locator('.menu-form')
  }
  const save = async (page: Page, name: string): Promise<void> => {
    await page.getByLabel('Save this search for the Team as').fill(name)
    await page.keyboard.press('Enter')
  }

  test('are saved, and shown to another member with all that belongs to them', async () => {
    const { page } = await show('/event-logs?level=Error&from=now-7d&columns=level,payload&live=1')
    await (await menu(page)).getByText('Nobody in the Team has saved a search yet.').waitFor()
    await save(page, 'Errors of a week')
    await page.getByRole('link', { name: 'Errors of a week' }).waitFor()

    // The filters of the present list, such as an environment, are no part of a saved search.
    const { page: other } = await show('/event-logs?environment=Development')
    await expectRows(other, ['paid'])
    await (await menu(other)).getByRole('link', { name: 'Errors of a week' }).click()
    await expectRows(other, ['declined'])
    expect(paramsOf(other)).toEqual({ level: 'Error', from: 'now-7d', columns: 'level,payload' })
    expect(await other.locator('.menu-form').count()).toBe(0)
  })

  test('of flows keep state, order and view', async () => {
    const { page } = await show('/flows?state=failed&sort=longest&from=now-7d')
    const saved = await menu(page)
    await save(page, 'Longest failures')
    await saved.getByRole('link', { name: 'Longest failures' }).waitFor()
    const { page: other } = await show('/event-logs')
    await (await menu(other)).getByRole('link', { name: 'Longest failures' }).click()
    await other.waitForURL('**/flows?*')
    expect(paramsOf(other)).toEqual({ state: 'failed', sort: 'longest', from: 'now-7d' })
  })

  test('are found by their names from any page', async () => {
    await server.client.post('/api/team/searches', {
      name: 'All about carts',
      page: 'application-logs',
      params: { q: 'cart' },
    })
    const { page } = await show('/event-logs?from=now-7d')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('about carts')
    await page.getByRole('option', { name: 'All about carts' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/application-logs?q=cart')
  })

  test('are renamed and deleted by keyboard; a refusal says what to change', async () => {
    tolerate(/status of 409/)
    await server.client.post('/api/team/searches', { name: 'First', page: 'event-logs', params: { q: 'a' } })
    await server.client.post('/api/team/searches', { name: 'Second', page: 'event-logs', params: { q: 'b' } })
    const { page } = await show('/event-logs')
    const saved = await menu(page)
    await saved.getByRole('button', { name: 'Rename Second' }).press('Enter')
    await eventually(async () => expect(await saved.getByLabel('New name').inputValue()).toBe('Second'))
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('First')
    await page.keyboard.press('Enter')
    await saved.getByText('The Team has a saved search named "First" already. Choose another name.').waitFor()
    await page.keyboard.type(' of all')
    await page.keyboard.press('Enter')
    await saved.getByRole('link', { name: 'First of all' }).waitFor()
    await saved.getByRole('button', { name: 'Delete First of all' }).press('Enter')
    await saved.getByText('Delete “First of all” for all members of the Team?').waitFor()
    await page.keyboard.press('Enter')
    await eventually(async () => expect(await saved.getByText('First of all').count()).toBe(0))
    expect(await saved.getByRole('link', { name: 'First' }).count()).toBe(1)
  })

  test('are saved once, however often that is pressed', async () => {
    const { page } = await show('/event-logs')
    const saved = await menu(page)
    const answered: number[] = []
    page.on('response', (response) => {
      if (response.request().method() === 'POST') answered.push(response.status())
    })
    await saved.getByLabel('Save this search for the Team as').fill('Pressed twice')
    await saved.getByRole('button', { name: 'Save', exact: true }).dblclick()
    await saved.getByRole('link', { name: 'Pressed twice' }).waitFor()
    expect(answered).toEqual([201])
    expect(await saved.getByRole('alert').allTextContents()).not.toContainEqual(expect.stringContaining('already'))
  })

  test('keep the focus in their menu after a change and after none', async () => {
    await server.client.post('/api/team/searches', { name: 'Held', page: 'event-logs', params: { q: 'h' } })
    const { page } = await show('/event-logs')
    const saved = await menu(page)
    const isWithin = () => saved.evaluate((node) => node.contains(document.activeElement))
    await saved.getByRole('button', { name: 'Rename Held' }).press('Enter')
    await saved.getByRole('button', { name: 'Cancel' }).press('Enter')
    await saved.getByLabel('New name').waitFor({ state: 'detached' })
    expect(await isWithin()).toBe(true)
    await saved.getByRole('button', { name: 'Rename Held' }).press('Enter')
    await saved.getByLabel('New name').fill('Held on')
    await page.keyboard.press('Enter')
    await saved.getByRole('button', { name: 'Delete Held on' }).press('Enter')
    expect(await isWithin()).toBe(true)
    await page.keyboard.press('Enter')
    await saved.getByText('Held on').waitFor({ state: 'detached' })
    expect(await isWithin()).toBe(true)
  })

  test('with a long name are asked about within the menu', async () => {
    const name = 'L'.repeat(150)
    await server.client.post('/api/team/searches', { name, page: 'event-logs', params: { q: 'long' } })
    const { page } = await show('/event-logs', { width: 360 })
    const saved = await menu(page)
    await saved.getByRole('button', { name: `Delete ${name}` }).click()
    const question = saved.getByText(/^Delete “L/)
    expect(await question.evaluate((text) => text.scrollWidth - text.clientWidth)).toBe(0)
  })

  test('of one Team are nobody else’s', async () => {
    await server.client.post('/api/team/searches', { name: 'Ours', page: 'event-logs', params: {} })
    const { page } = await show('/event-logs', { key: QUIET_KEY })
    await (await menu(page)).getByText('Nobody in the Team has saved a search yet.').waitFor()
  })

  test.each([1_280, 390])('axe finds nothing, and nothing is wider than the screen (%d wide)', async (width) => {
    await server.client.post('/api/team/searches', {
      name: `Long ${'name '.repeat(30)}`,
      page: 'event-logs',
      params: {},
    })
    const { page, axe } = await show('/event-logs', { width, height: 800 })
    await (await menu(page)).getByRole('link').first().waitFor()
    await page
      .getByRole('button', { name: /^Rename/ })
      .first()
      .click()
    const { x = -1 } = (await page.locator('.menu-form').boundingBox()) ?? {}
    expect([await overflow(page), Math.min(0, x), await axe()]).toEqual([0, 0, []])
  })
})
