import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { BEGIN, type FlowServer, HOUR, SECOND, SHOP_KEY, startFlowServer } from '../support/page-flow.ts'
import { overflow, STORE_AWAY } from '../support/page-logs.ts'

/** An order that goes so far, with an hour between its last two Steps. */
const order = (
  key: string,
  steps: readonly string[],
  more: { readonly slow?: number; readonly level?: string } = {},
) => {
  const { slow = 0, level = 'Information' } = more
  const after = { validate: SECOND, charge: 4 * SECOND + slow, ship: HOUR, deliver: 2 * HOUR }
  return [
    { to: 'order', key, at: BEGIN },
    ...steps.map((step, index) => ({
      to: `order.${step}`,
      key,
      at: BEGIN + after[step as keyof typeof after],
      level: index === steps.length - 1 ? level : 'Information',
    })),
  ]
}
const ALL = ['validate', 'charge', 'ship', 'deliver']

describeWithBrowser("the statistics of flows, and a flow's Steps", (browse) => {
  let server: FlowServer
  beforeAll(async () => {
    server = await startFlowServer()
    for (const key of ['order-1', 'order-2', 'order-3']) await server.send(order(key, ALL))
    await server.send(order('order-stalled', ALL.slice(0, 2)))
    await server.send(order('order-failed', ALL.slice(0, 2), { slow: 60 * SECOND, level: 'Error' }))
    await server.send([{ to: 'import.s0', key: 'import-1', at: BEGIN }])
  })
  afterAll(() => server.close())

  const openAt = (path: string, more = {}) => browse.open(server.url, { path, key: SHOP_KEY, ...more })
  const cells = (row: Locator): Promise<readonly string[]> =>
    row
      .getByRole('cell')
      .allTextContents()
      .then((texts) => texts.map((text) => text.trim()))
  const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

  test('tell for each Event how many flows reached each Step and how long they took, and lead to the flows', async () => {
    const { page } = await openAt('/flows')
    await page.getByRole('button', { name: 'Steps' }).click()
    const orders = panel(page, 'Order placed')
    await orders.getByText('5 flows').waitFor()
    expect(new URL(page.url()).search).toBe('?view=steps')
    const row = (name: string) => cells(orders.getByRole('row', { name }))
    expect(await row('Validate')).toEqual(['Validate', '100 % 5', '1.0 s', '1.0 s', '< 1 %', ''])
    expect(await row('Charge')).toEqual(['Charge', '100 % 5', '3.0 s', '1 m 3 s', '< 1 %', ''])
    expect(await row('Ship')).toEqual(['Ship', '60 % 3', '59 m 56 s', '59 m 56 s', '50 %', '1'])
    expect(await row('Deliver')).toEqual(['Deliver', '60 % 3', '1 h', '1 h', '50 %', ''])
    expect(await orders.getByText('Finished: half within').textContent()).toBe(
      'Finished: half within 2 h, 95 % within 2 h',
    )
    await panel(page, 'Nightly import').waitFor()
    await page.getByLabel('Event', { exact: true }).selectOption('Order placed')
    await eventually(async () => expect(await panel(page, 'Nightly import').count()).toBe(0))
    await orders.getByRole('link', { name: '1 failed' }).click()
    await eventually(async () => expect(await page.locator('.flows-key').allTextContents()).toEqual(['order-failed']))
    expect(new URL(page.url()).search).toBe('?event=order&state=failed')
  })

  test('say so where there are none', async () => {
    const { page } = await openAt('/flows?view=steps&from=2001-01-01&to=2001-01-02')
    await page.getByText('No flow of an Event in this time').waitFor()
  })

  test('stand beside the times of one flow, and beside those of a flow that succeeded', async () => {
    const { page } = await openAt('/flows/order-failed')
    await page.getByRole('button', { name: 'Steps', exact: true }).click()
    const steps = panel(page, 'Steps')
    const row = (name: string) => cells(steps.getByRole('row', { name }))
    await eventually(async () => expect(await row('Charge')).toEqual(['Charge', '1 m 3 s', '3.0 s to 1 m 3 s']))
    expect(await row('Ship')).toEqual(['Ship', 'not seen', '59 m 56 s to 59 m 56 s'])
    await steps.getByRole('button', { name: 'Compare with a flow that succeeded' }).click()
    await eventually(async () =>
      expect(await row('Charge')).toEqual(['Charge', '1 m 3 s', '3.0 s', 'failedslower by 1 m']),
    )
    expect(await row('Validate')).toEqual(['Validate', '1.0 s', '1.0 s', ''])
    expect(await row('Ship')).toEqual(['Ship', 'not seen', '59 m 56 s', 'missing'])
    expect(new URL(page.url()).searchParams.get('compare')).toMatch(/^order-[123]$/)
    await page.reload()
    await steps.getByText('missing').first().waitFor()
    await steps.getByRole('button', { name: 'Compare no more' }).click()
    await eventually(async () => expect(await row('Ship')).toHaveLength(3))
  })

  test('that could not be read are read again when asked', async () => {
    browse.tolerate(/status of 503/)
    const { page } = await openAt('/flows/order-failed')
    const steps = panel(page, 'Steps')
    const show = page.getByRole('button', { name: 'Steps', exact: true })
    const tryAgain = steps.getByRole('button', { name: 'Try again' })
    await page.route(/statistics/, (route) => route.fulfill(STORE_AWAY))
    await show.click()
    await steps.getByRole('alert').getByText('could not answer').waitFor()
    await page.unroute(/statistics/)
    await tryAgain.click()
    await steps.getByText('3.0 s to 1 m 3 s').waitFor()
    await page.route(/compare/, (route) => route.fulfill(STORE_AWAY))
    await steps.getByRole('button', { name: 'Compare with a flow that succeeded' }).click()
    await tryAgain.waitFor()
    await page.unroute(/compare/)
    await tryAgain.click()
    await steps.getByText('missing').first().waitFor()
  })

  test('stand beside those of any flow, by its key', async () => {
    const { page } = await openAt('/flows/order-failed?steps=show')
    await page.getByLabel('Or with a correlationKey').fill(' order-stalled ')
    await page.keyboard.press('Enter')
    const charge = panel(page, 'Steps').getByRole('row', { name: 'Charge' })
    await eventually(async () =>
      expect(await cells(charge)).toEqual(['Charge', '1 m 3 s', '3.0 s', 'failedslower by 1 m']),
    )
    expect(new URL(page.url()).searchParams.get('compare')).toBe('order-stalled')
    await page.getByRole('button', { name: 'Compare no more' }).click()
    browse.tolerate(/status of 404/)
    await page.getByLabel('Or with a correlationKey').fill('order-unknown')
    await page.keyboard.press('Enter')
    await page.getByText('There is no entry with the correlationKey order-unknown.', { exact: true }).waitFor()
  })

  test('have the same columns for every Event', async () => {
    const { page } = await openAt('/flows?view=steps')
    await panel(page, 'Order placed').waitFor()
    await page.locator('.steps').nth(1).waitFor()
    const placesOf = async (head: string) => {
      const heads = await page.locator('.steps th', { hasText: head }).all()
      return new Set(await Promise.all(heads.map(async (one) => (await one.boundingBox())?.x)))
    }
    for (const head of ['Reached by', 'Half within', '95 % within', 'Stalled before'])
      expect((await placesOf(head)).size).toBe(1)
  })

  test('say so where no other flow of the Event has finished', async () => {
    const { page } = await openAt('/flows/import-1?steps=show')
    await page.getByText('No other flow of this Event has finished.').waitFor()
  })

  test.each([390, 1_100])('are in sight with all their columns, %d wide', async (width) => {
    for (const path of ['/flows?view=steps', '/flows/order-failed?steps=show']) {
      const { page } = await openAt(path, { width })
      await page.getByRole('cell', { name: 'Deliver' }).first().waitFor()
      const cut =
        '[...document.querySelectorAll(".scroll:has(.steps)")].map((one) => one.scrollWidth - one.clientWidth)'
      expect(new Set(await page.evaluate<number[]>(cut))).toEqual(new Set([0]))
    }
  })

  test('that a small phone has no room for have a shadow at the edge', async () => {
    const { page } = await openAt('/flows?view=steps', { width: 320 })
    const table = page.locator('.scroll', { has: page.locator('.steps') }).first()
    expect(await table.evaluate((one) => one.scrollWidth > one.clientWidth)).toBe(true)
    expect(await table.evaluate((one) => getComputedStyle(one).backgroundAttachment)).toBe('local, scroll')
    // Within the round corners of what it stands in.
    const radius = (one: Element): string => getComputedStyle(one).borderBottomRightRadius
    expect(await table.evaluate(radius)).toBe(await panel(page, 'Order placed').evaluate(radius))
  })

  test('are clean by axe, wide and narrow, and never wider than the window', async () => {
    for (const look of [{}, { width: 390, height: 844 }])
      for (const path of ['/flows?view=steps', '/flows/order-failed?steps=show&compare=order-1']) {
        const { page, axe } = await openAt(path, look)
        await page.getByRole('cell', { name: 'Deliver' }).first().waitFor()
        expect(await axe()).toEqual([])
        expect(await overflow(page)).toBe(0)
      }
  })
})
