import { execFileSync } from 'node:child_process'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient } from '../support/api.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { copied, overflow } from '../support/page-logs.ts'
import { type PageServer, type PageTeam, startPageServer } from '../support/page-server.ts'

const HOSTILE = '<script>alert(1)</script> \u202e \u001b[31m'

describeWithBrowser('the page of refused logs', ({ open, team }) => {
  let server: PageServer
  beforeAll(async () => {
    server = await startPageServer()
  }, 60_000)
  afterAll(() => server.close())

  const refused = (own: PageTeam, fields: object, key = own.key) =>
    createClient(own.url, key).post(
      '/api/ExternalLogs',
      { uniqueIdentifier: own.identifier, payload: 'x', level: 'Error', ...fields },
      { 'user-agent': 'acme-shop/2.1' },
    )
  const opened = async (own: PageTeam, more = {}) =>
    (await open(own.url, { key: own.key, path: '/refused', ...more })).page
  const item = (page: Page, text: string | RegExp) => page.locator('details', { hasText: text }).first()

  const ofReason = (page: Page, code: string) => page.getByRole('region', { name: code }).locator('details').first()

  test('is empty where nothing was refused, and shows what is from then on', async () => {
    const own = await team()
    const page = await opened(own)
    await page.getByText('Nothing was refused', { exact: true }).waitFor()
    await refused(own, { level: 'Loud' })
    await ofReason(page, 'invalid_log_level').getByText(own.identifier, { exact: true }).waitFor()
  })

  test('tells of each what to change, and a command that works once that is done', async () => {
    await refused(server, { uniqueIdentifier: 'order-plcaed', payload: "it's" })
    const { page, context } = await open(server.url, { key: server.key, path: '/refused' })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const one = item(page, 'order-plcaed')
    await one.locator('summary').getByText('Did you mean order-placed?').click()
    await one.getByText('No Event or Step has this uniqueIdentifier').last().waitFor()
    for (const text of [`${server.key.slice(0, 6)}…`, 'acme-shop/2.1', '/api/ExternalLogs', `"it's"`])
      await one.getByText(text).last().waitFor()
    await one.getByRole('button', { name: 'Copy as cURL, with the identifier mended' }).click()
    const command = await eventually(async () => {
      const text = await copied(page)
      expect(text).toContain('curl')
      return text
    })
    expect(command).not.toContain(server.key.slice(0, 6))
    const answer = execFileSync('bash', ['-c', command.replace('<API_KEY>', server.key)], { stdio: 'pipe' })
    expect(JSON.parse(answer.toString())).toMatchObject({ success: true })
  })

  test.each([390, 1_024])('tells the reason in the list, also in a window that is %d wide', async (width) => {
    await refused(server, { uniqueIdentifier: `told-at-${width}` })
    const page = await opened(server, { width })
    const reason = item(page, `told-at-${width}`).locator('summary').getByText('No Event or Step has this')
    await reason.waitFor()
    expect((await reason.boundingBox())?.width).toBeGreaterThan(250)
    // All of it: what has to be changed comes last.
    const isCut = await page.evaluate(`[...document.querySelectorAll('summary bdi')].some((node) => {
      const range = document.createRange()
      range.selectNodeContents(node)
      return range.getBoundingClientRect().right > node.closest('summary').getBoundingClientRect().right
    })`)
    expect(isCut).toBe(false)
    expect(await reason.textContent()).toMatch(/ or register the Event or Step first\.$/)
  })

  test('tells of an entry of a batch its place and the fields at fault', async () => {
    const { data } = await server.client.get<{ projects: { id: string; name: string }[] }>('/api/team')
    const entry = { categoryName: 'A', message: 'm', level: 'Error' }
    await server.client.post('/api/ApplicationLogs/batch', {
      uniqueIdentifier: data.projects[0]?.id,
      logEntries: [entry, { ...entry, eventId: 'x', scopeData: [] }],
    })
    const page = await opened(server)
    const one = ofReason(page, 'invalid_request')
    await one.locator('summary').getByText(`${data.projects[0]?.name}`, { exact: true }).click()
    for (const text of ['/eventId', '/scopeData', '/api/ApplicationLogs/batch, entry 1'])
      await one.getByText(text, { exact: true }).waitFor()
  })

  test('of a wrong key shows no more than six characters', async () => {
    const key = 'sl_somebody-elses-key-0123456789'
    await refused(server, {}, key)
    const page = await opened(server)
    const one = ofReason(page, 'invalid_api_key')
    await one.locator('summary').click()
    await one.getByText('sl_som…').waitFor()
    expect(await page.evaluate<string>('document.body.innerHTML')).not.toContain('sl_some')
  })

  test('shows hostile text as text, and cut bodies as such', async () => {
    await refused(server, { level: 'Loud', uniqueIdentifier: HOSTILE, payload: 'long '.repeat(10_000) })
    const page = await opened(server)
    const one = item(page, /<script>alert\(1\)<\/script> ⟨202E⟩ ␛\[31m/)
    await one.locator('summary').click()
    await one.getByText('… cut here').waitFor()
    await one.getByText('not kept in full').waitFor()
    expect(await one.getByRole('button', { name: /cURL/ }).count()).toBe(0)
  })

  test('counts a flood instead of listing it, filters by reason, and is where a link says', async () => {
    const own = await team()
    for (let n = 0; n < 100; n += 1) await refused(own, { level: 'Loud' })
    await refused(own, { payload: '' })
    const page = await opened(own)
    const flood = page.getByRole('region', { name: 'invalid_log_level, acme-shop/2.1' })
    await flood.getByText(/^×\d\d+$/).waitFor()
    // The last one of each group.
    expect(await page.locator('details').count()).toBe(2)
    await flood.getByRole('button', { name: /^Show \d+ more like this$/ }).click()
    await flood
      .getByText(/\+\d+ alike/)
      .first()
      .waitFor()
    const all = await page.locator('details').count()
    expect([all > 2, all < 60]).toEqual([true, true])
    await page.getByLabel('Reason').selectOption('missing_payload')
    expect(await page.locator('details').count()).toBe(1)
    await page.locator('summary').click()
    const url = page.url()
    expect(url).toMatch(/code=missing_payload&id=\d+/)
    const again = (await open(url.split('/refused')[0] ?? '', { key: own.key, path: `/refused${new URL(url).search}` }))
      .page
    await again.getByText('payload is missing or empty').last().waitFor()
    await page.goBack()
    await eventually(async () => expect(await page.locator('details').count()).toBeGreaterThan(1))
  })

  test('a link to one that is not kept any more says so, and leads on', async () => {
    await refused(server, { level: 'Loud' })
    const { page } = await open(server.url, { key: server.key, path: '/refused?id=999999' })
    await page.getByText('The refused log of this address is not there').waitFor()
    await page.getByRole('button', { name: 'Go on without it' }).click()
    await page.getByText('of this address').waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('')
  })

  test('are counted where one is, and an empty list leads to them', async () => {
    const own = await team()
    for (let n = 0; n < 3; n += 1) await refused(own, { level: 'Loud' })
    const { page } = await open(own.url, { key: own.key, path: '/event-logs' })
    await page.getByText('3 logs were refused within a day').waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Refused logs 3' }).waitFor()
    await page.getByRole('link', { name: 'See the refused logs' }).click()
    await page.getByRole('heading', { name: 'invalid_log_level ×3 acme-shop/2.1' }).waitFor()
  })

  test.each([
    ['wide', {}],
    ['narrow', { width: 390, height: 844 }],
  ])(
    'axe finds nothing, and nothing sticks out: %s',
    async (_how, look) => {
      const own = await team()
      const { page, axe } = await open(own.url, { key: own.key, path: '/refused', ...look })
      await page.getByText('Nothing was refused', { exact: true }).waitFor()
      expect(await axe()).toEqual([])
      await refused(own, { uniqueIdentifier: `order-plcaed-${'x'.repeat(300)}`, payload: 'y'.repeat(3_000) })
      await refused(own, { uniqueIdentifier: 'order-plcaed' })
      await page.locator('summary').first().click()
      expect(await axe()).toEqual([])
      expect(await overflow(page)).toBe(0)
    },
    60_000,
  )
})
