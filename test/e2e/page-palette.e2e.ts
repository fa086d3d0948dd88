import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { CHECKOUT, type FlowServer, orderOf, SHOP_KEY, startFlowServer } from '../support/page-flow.ts'
import { overflow } from '../support/page-logs.ts'

const pathOf = (page: Page): string => {
  const { pathname, search } = new URL(page.url())
  return pathname + search
}

describeWithBrowser('the ways around the page', (browse) => {
  let server: FlowServer
  beforeAll(async () => {
    server = await startFlowServer()
    for (const key of ['order-4711', 'order-4712', 'refund-4711']) await server.send(orderOf(key))
    await server.client.post('/api/ExternalLogs', { uniqueIdentifier: 'nowhere', payload: 'lost', level: 'Debug' })
  })
  afterAll(() => server.close())

  const open = async (path: string, more = {}) => {
    const opened = await browse.open(server.url, { path, key: SHOP_KEY, ...more })
    await opened.page.getByRole('button', { name: 'Shop', exact: true }).waitFor()
    return opened
  }
  const options = (page: Page) => page.locator('.palette [role=option]').allTextContents()
  const chosen = (page: Page) => page.locator('[role=option][aria-selected=true]').textContent()
  const openPalette = async (page: Page) => {
    await page.keyboard.press('Control+k')
    const box = page.getByRole('combobox', { name: 'Flow, Event, Project, saved search, page or command' })
    await box.waitFor()
    return box
  }

  describe('the palette', () => {
    test('finds a flow by part of its key, and opens it by keyboard alone', async () => {
      const { page } = await open('/team')
      const box = await openPalette(page)
      await box.pressSequentially('4711')
      await eventually(async () => {
        const found = await options(page)
        expect(found.slice(0, 2).toSorted()).toEqual(['order-4711stalled', 'refund-4711stalled'])
        expect(found.slice(2)).toEqual(['Event logs with 4711', 'Application logs with 4711', 'The flow 4711'])
      })
      const first = await chosen(page)
      await page.keyboard.press('ArrowUp')
      expect(await chosen(page)).toBe('The flow 4711')
      await page.keyboard.press('ArrowDown')
      expect(await chosen(page)).toBe(first)
      expect(await box.getAttribute('aria-activedescendant')).toBe('palette-0')
      await page.keyboard.press('Enter')
      await eventually(() => expect(`${pathOf(page)}`).toBe(`/flows/${first?.replace('stalled', '')}`))
      expect(await page.getByRole('dialog').count()).toBe(0)
    })

    test('waits with Enter for what is typed, and puts a whole key first', async () => {
      const { page } = await open('/team')
      const box = await openPalette(page)
      await box.fill('order-4712')
      await page.keyboard.press('Enter')
      await eventually(() => expect(pathOf(page)).toBe('/flows/order-4712'))
    })

    test('asks once typing rests, not at every letter, and for a bounded number', async () => {
      const { page } = await open('/team')
      const asked: string[] = []
      page.on('request', (request) => {
        const url = new URL(request.url())
        if (url.pathname === '/api/flows') asked.push(url.search)
      })
      const box = await openPalette(page)
      await eventually(() => expect(asked).toEqual(['?limit=6']))
      await box.waitFor()
      await page.evaluate(`
        for (const text of ['o', 'or', 'ord', 'orde', 'order']) {
          document.activeElement.value = text
          document.activeElement.dispatchEvent(new Event('input', { bubbles: true }))
        }
      `)
      await page.getByRole('option', { name: 'The flow order' }).waitFor()
      expect(asked).toEqual(['?limit=6', '?q=order&limit=6'])
    })

    test('finds Events, Projects and pages by their names', async () => {
      const { page } = await open('/team')
      const go = async (text: string, option: string, path: string): Promise<void> => {
        const box = await openPalette(page)
        await box.fill(text)
        await page.getByRole('option', { name: option }).click()
        await eventually(() => expect(pathOf(page)).toBe(path))
      }
      await go('placed', 'Order placed', '/event-logs?event=order')
      await go('check', 'Checkout API', `/application-logs?project=${CHECKOUT}`)
      await go('refus', 'Refused logs', '/refused')
      await (await openPalette(page)).fill('other')
      await page.getByRole('option', { name: 'The flow other' }).waitFor()
      expect(await options(page)).toEqual(['Event logs with other', 'Application logs with other', 'The flow other'])
    })

    test('searches the logs for what has no name', async () => {
      const { page } = await open('/team')
      await (await openPalette(page)).fill('0HN7 level:error')
      await page.getByRole('option', { name: 'Application logs with 0HN7 level:error' }).click()
      await eventually(() => expect(pathOf(page)).toBe('/application-logs?q=0HN7+level:error'))
      await (await openPalette(page)).fill('customer-7')
      await page.keyboard.press('Enter')
      await eventually(() => expect(pathOf(page)).toBe('/event-logs?q=customer-7'))
    })

    test('runs commands, and gives the focus back on Escape', async () => {
      const { page } = await open('/event-logs')
      const search = page.getByRole('combobox', { name: 'Search' })
      await search.fill('half a sear')
      await (await openPalette(page)).fill('dark')
      await page.keyboard.press('Enter')
      await eventually(async () => expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark'))
      expect(await search.inputValue()).toBe('half a sear')
      await openPalette(page)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await page.evaluate('document.activeElement.id')).toBe('search')
      await (await openPalette(page)).fill('sign o')
      await page.keyboard.press('Enter')
      await page.getByLabel('Team key').waitFor()
    })

    test('says what failed, and goes on with what needs no server', async () => {
      browse.tolerate(/Failed to load resource|net::ERR_/)
      const { page } = await open('/team')
      await page.route('**/api/flows?**', (route) => route.abort())
      const box = await openPalette(page)
      await page.getByRole('dialog').getByText('The server does not answer.').waitFor()
      await box.fill('Application')
      await page.keyboard.press('Enter')
      await eventually(() => expect(pathOf(page)).toBe('/application-logs'))
    })

    test('a text of anybody stands there as text', async () => {
      const key = '<img src=x onerror=alert(1)>‮'
      await server.send([{ to: 'order', key, at: Date.now() }])
      const { page } = await open('/team')
      await (await openPalette(page)).fill('onerror')
      await page.getByRole('option', { name: '<img src=x', exact: false }).first().waitFor()
      expect(await page.locator('.palette img').count()).toBe(0)
    })

    test.each([
      ['wide', {}],
      ['narrow', { width: 390, height: 844 }],
    ])('axe finds nothing, and nothing sticks out: %s', async (_name, look) => {
      const { page, axe } = await open('/team', look)
      const box = await openPalette(page)
      await page.getByRole('option', { name: 'order-4711' }).waitFor()
      expect(await axe()).toEqual([])
      await box.fill('order')
      await page.getByRole('option', { name: 'Order placed' }).waitFor()
      expect(await axe()).toEqual([])
      expect(await overflow(page)).toBe(0)
    })
  })

  test.each([
    ['event-logs', 'tr.log'],
    ['application-logs', 'tr.log'],
    ['flows', '.flows tr'],
    ['flows/order-4711', '.flow-list tr'],
    ['refused', 'details'],
    ['team', '.owned tr'],
  ])('the first row of %s is three keys away', async (path, row) => {
    const { page } = await open(`/${path}?from=1970-01-01`)
    await page
      .locator('main')
      .locator(row)
      .nth(1)
      .or(page.locator(`main ${row}`).first())
      .first()
      .waitFor()
    await page.locator('main :is(tbody :is(a, button), summary) >> visible=true').first().waitFor()
    for (const key of ['Tab', 'Tab', 'Enter']) await page.keyboard.press(key)
    const within = `document.activeElement.closest(${JSON.stringify(row)}) !== null`
    await eventually(async () => expect(await page.evaluate(within)).toBe(true))
  })
})
