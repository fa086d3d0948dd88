import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/browser.ts'
import { BUSY_PROJECTS, TOLD_FLOW } from '../support/busy-team.ts'
import { eventually } from '../support/eventually.ts'
import { copied } from '../support/page-logs.ts'
import { type PageServer, startBusyServer } from '../support/page-server.ts'

/** A mouse and a keyboard that count. */
function handOn(page: Page) {
  let [clicks, keys] = [0, 0]
  return {
    click: async (target: Locator) => {
      clicks += 1
      await target.click()
    },
    press: async (key: string) => {
      keys += 1
      await page.keyboard.press(key)
    },
    type: async (text: string) => {
      keys += text.length
      await page.keyboard.type(text)
    },
    spent: () => ({ clicks, keys }),
  }
}

/** Notes in `window.moved` what is drawn at another height than in the frame before. */
const NOTE_MOVES = `
  window.moved = []
  new PerformanceObserver((list) => {
    for (const { node, previousRect, currentRect } of list.getEntries().flatMap(({ sources }) => sources))
      if (previousRect.height > 0 && currentRect.height > 0 && previousRect.y !== currentRect.y)
        window.moved.push(node.className + ' from ' + previousRect.y + ' to ' + currentRect.y)
  }).observe({ type: 'layout-shift', buffered: true })`
const TWO_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))'

/** The API's answers come one after the other, each once what the one before brought is drawn. Resolves with whether all have come. */
async function oneByOne(page: Page): Promise<() => boolean> {
  let turn = Promise.resolve()
  let [asked, answered] = [0, 0]
  await page.route(/\/api\/(?!session|.*\/tail)/, (route) => {
    asked += 1
    const answer = async (): Promise<void> => {
      await route.fulfill({ response: await route.fetch() })
      await page.evaluate(TWO_FRAMES)
      answered += 1
    }
    // A page that was left waits for no answer.
    turn = turn.then(answer).catch(() => undefined)
  })
  return () => asked > 0 && answered === asked
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })

/** The tasks of a day, each with what it costs at most: beyond that, somebody goes back to another tool. */
describeWithBrowser('the tasks of a day', ({ open, serve }) => {
  let server: PageServer
  beforeAll(async () => {
    const now = Date.now()
    server = await startBusyServer(now)
    const log = { categoryName: 'Acme.Jobs', level: 'Error', timestamp: new Date(now).toISOString() }
    const send = (uniqueIdentifier: string, message: string, exception?: string) =>
      server.client.post('/api/ApplicationLogs', { ...log, uniqueIdentifier, message, exception })
    await send(BUSY_PROJECTS.billing, 'The one that is sought')
    await send(
      BUSY_PROJECTS.checkout,
      'One of another Project',
      'Acme.DiscountError: no such discount\n   at Acme.Cart.Add()',
    )
    await eventually(async () =>
      expect(await server.client.all('/api/application-logs?q=category:Acme.Jobs')).toHaveLength(2),
    )
  }, 90_000)
  afterAll(() => server.close())

  const start = async (path: string) => {
    const { page, context } = await open(server.url, { key: server.key, path })
    await button(page, 'Acme Commerce').waitFor()
    return { page, context, ...handOn(page) }
  }

  test('the errors of one Project in the last hour take four clicks', async () => {
    const { page, click, spent } = await start('/application-logs')
    await click(page.getByTitle('Only Error'))
    await click(page.getByRole('region', { name: 'Projects' }).getByRole('button', { name: /^Billing/ }))
    await click(page.getByTitle('Time (d)'))
    await click(button(page, 'Last hour'))
    const rows = page.locator('tr.log')
    await eventually(async () => {
      expect(await rows.first().textContent()).toContain('The one that is sought')
      expect((await rows.allTextContents()).join()).not.toContain('One of another Project')
    })
    expect(spent()).toEqual({ clicks: 4, keys: 0 })
  })

  test('an order by a part of its key, and the Steps that are missing, take six keys', async () => {
    const { page, press, type, spent } = await start('/event-logs')
    await press('Control+k')
    await type(TOLD_FLOW.replace('order-', ''))
    await page.getByRole('option', { name: TOLD_FLOW }).waitFor()
    await press('Enter')
    await page.getByRole('heading', { name: TOLD_FLOW }).waitFor()
    await page.locator('.flow-wait', { hasText: 'next, not seen' }).first().waitFor()
    expect(spent()).toEqual({ clicks: 0, keys: 6 })
  })

  test('a comparison with a flow that succeeded takes two clicks', async () => {
    const { page, click, spent } = await start(`/flows/${TOLD_FLOW}`)
    await click(button(page, 'Steps'))
    await click(button(page, 'Compare with a flow that succeeded'))
    const invoice = page.getByRole('region', { name: 'Steps' }).getByRole('row', { name: 'Send invoice' })
    await invoice.getByText('missing').waitFor()
    expect(spent()).toEqual({ clicks: 2, keys: 0 })
  })

  test('the most frequent exception of a day takes one click', async () => {
    const { page, click, spent } = await start('/application-logs')
    await click(button(page, 'Exceptions'))
    const first = page.getByRole('region', { name: 'Groups by exception' }).getByRole('listitem').first()
    expect(await first.textContent()).toContain('InvalidOperationException')
    expect(spent()).toEqual({ clicks: 1, keys: 0 })
  })

  test('which exception is new since a deploy takes four keys and one click', async () => {
    const { page, press, type, click, spent } = await start('/application-logs')
    await press('d')
    await eventually(async () => expect(await page.evaluate('document.activeElement.name')).toBe('begin'))
    await type('1h')
    await press('Enter')
    await eventually(() => expect(new URL(page.url()).searchParams.get('from')).toBe('now-1h'))
    await click(button(page, 'Exceptions'))
    const groups = page.getByRole('region', { name: 'Groups by exception' }).getByRole('listitem')
    await groups.filter({ hasText: 'Acme.DiscountError' }).getByText('new, none in the 1 h before').waitFor()
    expect(spent()).toEqual({ clicks: 1, keys: 4 })
  })

  const PAGES = [
    '/event-logs',
    '/application-logs?group=template',
    '/application-logs?chart=count',
    '/flows',
    `/flows/${TOLD_FLOW}`,
    '/refused',
    '/watches',
  ]
  test.each(PAGES.flatMap((path) => [1_440, 768, 390].map((width) => [path, width] as const)))(
    'nothing of %s moves up or down while its answers come (%d wide)',
    async (path, width) => {
      let haveCome = (): boolean => false
      const prepare = async (page: Page): Promise<void> => {
        await page.addInitScript(NOTE_MOVES)
        haveCome = await oneByOne(page)
      }
      const { page } = await open(server.url, { key: server.key, path, width, prepare })
      await eventually(() => expect(haveCome()).toBe(true))
      expect(await page.evaluate('window.moved')).toEqual([])
    },
  )

  test('a link to share takes one key', async () => {
    const { page, context, press, spent } = await start('/application-logs?q=sought')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByText('The one that is sought').waitFor()
    await press('l')
    await eventually(async () => expect(await copied(page)).toContain('q=sought'))
    expect(spent()).toEqual({ clicks: 0, keys: 1 })
  })

  test('the reason why a log is missing takes one click, from a count that nobody has to look for', async () => {
    const { page, click, spent } = await start('/event-logs')
    await page.locator('.nav .badge').waitFor()
    await click(page.getByRole('link', { name: /^Refused logs/ }))
    await page.getByText('acme-warehouse/0.9').first().waitFor()
    expect(spent()).toEqual({ clicks: 1, keys: 0 })
  })

  test('a key is replaced with five clicks, its copy included', async () => {
    const own = await serve()
    const { page, context } = await open(own.url, { key: own.key, path: '/event-logs' })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const { click, spent } = handOn(page)
    await click(page.locator('.nav').getByRole('link', { name: 'Team' }))
    await click(button(page, 'Replace all'))
    await click(button(page, 'Replace all keys'))
    await click(button(page, 'Copy the key'))
    const key = await copied(page)
    await click(button(page, 'I have copied it'))
    await page.getByText(`${key.slice(0, 6)}… you signed in with it`).waitFor()
    expect(spent()).toEqual({ clicks: 5, keys: 0 })
  })
})
