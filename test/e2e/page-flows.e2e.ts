import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { BEGIN, type FlowServer, HOUR, orderOf, SECOND, SHOP_KEY, startFlowServer } from '../support/page-flow.ts'

describeWithBrowser('the page of all flows', (browse) => {
  let server: FlowServer
  beforeAll(async () => {
    server = await startFlowServer()
  })
  afterAll(() => server.close())

  const openFlows = (path = '/flows', more = {}) => browse.open(server.url, { path, key: SHOP_KEY, ...more })
  const keys = (page: Page) => page.locator('.flows-key').allTextContents()

  test('says why there is none, and shows the first one as it comes', async () => {
    const { page } = await openFlows()
    await page.getByText('Waiting for the first flow').waitFor()
    await server.client.post('/api/ExternalLogs', { uniqueIdentifier: 'order', payload: 'no key', level: 'Debug' })
    await eventually(async () => expect((await server.client.all('/api/event-logs')).length).toBe(1))
    await page.reload()
    await page.getByText('No log has a correlationKey yet').waitFor()
    await server.send([{ to: 'order.validate', key: 'order-first', at: Date.now() }])
    await page.getByRole('link', { name: 'order-first' }).waitFor()
  })

  test('lists the latest activity first with state, levels, last or next Step and place, live', async () => {
    await server.send(orderOf('order-old'))
    await server.send([{ to: 'order.charge', key: 'order-bad', at: BEGIN + 5 * HOUR, level: 'Error' }])
    const { page } = await openFlows()
    await eventually(async () => expect(await keys(page)).toEqual(['order-first', 'order-bad', 'order-old']))
    const row = (key: string) => page.getByRole('row', { name: key })
    expect(await row('order-bad').textContent()).toMatch(/failed.*ChargeOrder placed/)
    expect(await row('order-old').textContent()).toMatch(/stalled.*before ShipOrder placed, Checkout API, Warehouse/)
    await server.send([{ to: 'order.ship', key: 'order-bad', at: Date.now() + SECOND }])
    await eventually(async () => expect((await keys(page))[0]).toBe('order-bad'))
  })

  test.each([800, 1_024, 1_280])('has room for a key of the length of a GUID at %i pixels', async (width) => {
    const { page } = await openFlows('/flows', { width })
    const key = page.getByRole('columnheader', { name: 'correlationKey' })
    expect((await key.boundingBox())?.width).toBeGreaterThan(250)
  })

  test('finds by part of a key and by level, and offers the way out', async () => {
    const { page } = await openFlows()
    await page.getByLabel('Part of a correlationKey', { exact: false }).fill('OLD')
    await eventually(async () => expect(await keys(page)).toEqual(['order-old']))
    expect(new URL(page.url()).search).toBe('?q=OLD')
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('order-old')
    await page.getByLabel('Part of a correlationKey', { exact: false }).fill('nothing like it')
    await page.getByText('No flow matches').waitFor()
    const search = page.getByRole('link', { name: 'Search the logs for it' })
    expect(await search.getAttribute('href')).toBe('/application-logs?q=nothing+like+it')
    await page.getByRole('button', { name: 'Show all flows' }).click()
    await eventually(async () => expect((await keys(page)).length).toBe(3))
    await page.getByLabel('Worst level').selectOption('Error')
    await eventually(async () => expect((await keys(page)).toSorted()).toEqual(['order-bad', 'order-old']))
    await page.locator('h1').click()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.locator('.flow-list tbody tr').first().waitFor()
    expect(page.url()).toMatch(/\/flows\/order-(bad|old)$/)
  })

  test('shows the level of an address in any case', async () => {
    const { page } = await openFlows('/flows?level=error')
    expect(await page.getByLabel('Worst level').inputValue()).toBe('Error')
  })

  test('has a tab for each state with its count, by mouse and by keyboard', async () => {
    const { page } = await openFlows()
    const tab = (name: string) => page.getByRole('tab', { name })
    const counts = () => page.getByRole('tab').allTextContents()
    await eventually(async () =>
      expect(await counts()).toEqual(['All 3', 'Failed 0', 'Stalled 1', 'Running 2', 'Finished 0']),
    )
    await server.send([{ to: 'order.charge', key: 'order-worse', at: BEGIN + 6 * HOUR, level: 'Critical' }])
    await eventually(async () =>
      expect(await counts()).toEqual(['All 4', 'Failed 1', 'Stalled 1', 'Running 2', 'Finished 0']),
    )
    await tab('Stalled').click()
    await eventually(async () => expect(await keys(page)).toEqual(['order-old']))
    expect(new URL(page.url()).search).toBe('?state=stalled')
    await page.keyboard.press('ArrowLeft')
    await eventually(async () => expect(await keys(page)).toEqual(['order-worse']))
    await page.getByLabel('Part of a correlationKey', { exact: false }).fill('bad')
    await page.getByText('No flow matches').waitFor()
    await eventually(async () => expect((await counts())[0]).toBe('All 1'))
    await page.getByRole('button', { name: 'Show all flows' }).click()
    await eventually(async () => expect((await keys(page)).length).toBe(4))
    expect(new URL(page.url()).search).toBe('')
  })

  test('tells that the flows of a state are on their way, as those shown are of another', async () => {
    const { page } = await openFlows()
    await eventually(async () => expect((await keys(page)).length).toBe(4))
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    await page.route(/api\/flows\?/, async (route) => {
      await held
      await route.continue()
    })
    await page.getByRole('tab', { name: 'Stalled' }).click()
    await page.locator('.busy').waitFor()
    await eventually(async () =>
      expect(await page.evaluate('getComputedStyle(document.querySelector(".flows")).opacity')).toBe('0.5'),
    )
    release()
    await eventually(async () => expect(await keys(page)).toEqual(['order-old']))
    expect(await page.locator('.busy').count()).toBe(0)
  })

  test('is filtered by Event and sorted', async () => {
    await server.send([{ to: 'import.s0', key: 'import-1', at: BEGIN }])
    const { page } = await openFlows()
    await page.getByLabel('Event', { exact: true }).selectOption('Nightly import')
    await eventually(async () => expect(await keys(page)).toEqual(['import-1']))
    await page.getByLabel('Event', { exact: true }).selectOption('All Events')
    await page.getByLabel('Sort').selectOption('Longest first')
    await eventually(async () => expect((await keys(page)).slice(0, 2)).toEqual(['order-bad', 'order-old']))
    await page.getByLabel('Sort').selectOption('Worst level first')
    await eventually(async () => expect((await keys(page)).slice(0, 2)).toEqual(['order-worse', 'order-old']))
    expect(new URL(page.url()).search).toBe('?sort=worst')
    await page.getByLabel('Sort').selectOption('Latest activity')
    expect(new URL(page.url()).search).toBe('')
    await page.locator('h1').click()
    await page.keyboard.press('d')
    await page.getByRole('button', { name: 'Last 15 minutes' }).waitFor()
    await page.keyboard.press('Escape')
    await page.goBack()
    await eventually(async () => expect((await keys(page)).slice(0, 2)).toEqual(['order-worse', 'order-old']))
    expect(new URL(page.url()).search).toBe('?sort=worst')
  })

  test('takes nothing back of what is typed while what was typed before goes into the address', async () => {
    const { page } = await openFlows()
    const box = page.getByLabel('Part of a correlationKey', { exact: false })
    await box.waitFor()
    await page.evaluate(`
      const { replaceState } = history
      history.replaceState = (...given) => {
        history.replaceState = replaceState
        history.replaceState(...given)
        setTimeout(() => {
          document.activeElement.value += 'D'
          document.activeElement.dispatchEvent(new Event('input', { bubbles: true }))
        })
      }
    `)
    await box.fill('OL')
    await eventually(() => expect(new URL(page.url()).search).toBe('?q=OLD'))
    expect(await box.inputValue()).toBe('OLD')
  })

  test('leaves the keys to an input method that composes a text', async () => {
    const { page, context } = await openFlows()
    await page.getByLabel('Part of a correlationKey', { exact: false }).focus()
    const devtools = await context.newCDPSession(page)
    await devtools.send('Input.imeSetComposition', { text: 'order', selectionStart: 5, selectionEnd: 5 })
    await page.keyboard.press('Enter')
    expect(new URL(page.url()).pathname).toBe('/flows')
    await devtools.send('Input.insertText', { text: 'order' })
    await page.keyboard.press('Enter')
    await page.waitForURL('**/flows/order')
  })

  test('loads older ones below', async () => {
    await server.send(
      Array.from({ length: 70 }, (_, index) => ({ to: 'audit', key: `many-${index}`, at: BEGIN - index * SECOND })),
    )
    await eventually(async () => {
      const { data } = await server.client.get<{ items: unknown[] }>('/api/flows?q=many-&limit=1000')
      return data.items.length === 70
    })
    const { page } = await openFlows('/flows?q=many-')
    await eventually(async () => expect((await keys(page)).length).toBe(50))
    await page.getByRole('button', { name: 'Load more flows' }).click()
    await eventually(async () => expect((await keys(page)).length).toBe(70))
    expect(new Set(await keys(page)).size).toBe(70)
    expect(await page.getByRole('button', { name: 'Load more flows' }).count()).toBe(0)
  })

  test('has all states and a short key in sight on a small phone', async () => {
    await server.send([{ to: 'order.validate', key: 'order-4711', at: Date.now() }])
    const { page } = await openFlows('/flows', { width: 320, height: 568 })
    const last = page.getByRole('tab').last()
    await last.locator('.badge').waitFor()
    const { x = 0, width = 0 } = (await last.boundingBox()) ?? {}
    expect(x + width).toBeLessThanOrEqual(320)
    const cell = page.getByRole('cell', { name: 'order-4711' })
    expect(await cell.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0)
  })

  test('shows its table in a panel, as others are', async () => {
    await server.send([{ to: 'order.validate', key: 'order-in-panel', at: Date.now() }])
    const { page } = await openFlows()
    const panel = page.locator('.flows')
    await panel.waitFor()
    const look = (one: Element): readonly string[] => {
      const { backgroundColor, borderTopLeftRadius } = getComputedStyle(one)
      return [backgroundColor, borderTopLeftRadius]
    }
    const [color, radius] = await panel.evaluate(look)
    expect(color).toBe((await page.locator('.flows th').first().evaluate(look))[0])
    expect(Number.parseFloat(`${radius}`)).toBeGreaterThan(0)
  })

  test('is clean by axe, wide and narrow, and never wider than the window', async () => {
    for (const look of [{}, { width: 390, height: 844 }]) {
      const { page, axe } = await openFlows('/flows', look)
      await page.locator('.flows-key').first().waitFor()
      expect(await axe()).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    }
  })
})
