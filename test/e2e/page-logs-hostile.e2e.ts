import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { LOGS_KEY, type LogsServer, paramsOf, startLogsServer } from '../support/page-logs.ts'

const SCRIPT = `<img src=x onerror="window.ran=1"><script>window.ran=1</script><svg onload=window.ran=1>"'><b>bold</b>`
const CONTROLS = 'a\x1b[31mred\x1b[0m b\x07 c\u202edesrever\u202c d\u0000 e\u2028 f\u200b g\x9b2J'
const LONG = 'x'.repeat(700_000)

/** Text of a log that would do harm, break the layout or keep the page busy, by a name of its own. */
const HOSTILE: Readonly<Record<string, string>> = {
  script: SCRIPT,
  controls: CONTROLS,
  long: `${LONG} end`,
  lines: 'line\n'.repeat(100_000),
  deep: `${'['.repeat(60_000)}${']'.repeat(60_000)}`,
  wide: `{${Array.from({ length: 40_000 }, (_, index) => `"key${index}":${index}`).join()}}`,
  names: JSON.stringify({ [SCRIPT]: SCRIPT, [CONTROLS]: 1, __proto__: { polluted: true }, '': 'nameless' }),
  arabic: 'قبل \u0627\u0644 <after> (left) [x]',
  zalgo: `z${'\u0310'.repeat(400)}`,
}

describeWithBrowser('hostile logs', ({ open }) => {
  let server: LogsServer
  beforeAll(async () => {
    server = await startLogsServer()
    const names = Object.keys(HOSTILE)
    for (const name of names) await server.event({ payload: HOSTILE[name], correlationKey: name })
    await server.application({
      message: SCRIPT,
      categoryName: `${SCRIPT}.${'Part.'.repeat(300)}${CONTROLS.replaceAll('\0', '')}`,
      eventName: SCRIPT,
      environment: CONTROLS.slice(0, 60).replaceAll('\0', ''),
      exception: `${SCRIPT}: ${SCRIPT}\n${`   at ${SCRIPT}(${'a'.repeat(300)})\n`.repeat(2_000)}`,
      scopeData: { [SCRIPT]: { [SCRIPT]: [SCRIPT, CONTROLS] }, Scopes: [{ '{OriginalFormat}': `{${SCRIPT}}` }] },
      correlationKey: SCRIPT,
    })
    await server.total('event', names.length)
    await server.total('application', 1)
  }, 90_000)
  afterAll(async () => {
    await server.close()
  })

  const show = async (path: string, width = 1_440): Promise<Page> => {
    const { page } = await open(server.url, { path, key: LOGS_KEY, reducedMotion: true, width })
    await page.locator('tr.log').first().waitFor()
    return page
  }

  /** Nothing ran, nothing was made into elements, nothing is wider than the screen, and the page still answers. */
  async function expectHarmless(page: Page): Promise<void> {
    const found = await page.evaluate(`({
      ran: window.ran,
      polluted: {}.polluted,
      elements: document.querySelectorAll('main img, main script, main b.bold, main svg[onload]').length,
      wide: document.documentElement.scrollWidth - innerWidth,
      controls: /[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]/.test(document.querySelector('main').innerText),
      names: [...document.querySelectorAll('main [title], main [aria-label]')]
        .flatMap(({ title, ariaLabel }) => [title, ariaLabel ?? ''])
        .filter((name) => /[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]/.test(name)),
      nodes: document.querySelectorAll('main *').length < 12000,
      characters: document.querySelector('main').textContent.length < 1000000,
    })`)
    expect(found).toEqual({
      ran: undefined,
      polluted: undefined,
      elements: 0,
      wide: 0,
      controls: false,
      names: [],
      nodes: true,
      characters: true,
    })
  }

  test.each([1_440, 390])('the list shows them all, as text, each in its row (%d wide)', async (width) => {
    const page = await show('/event-logs', width)
    await eventually(async () => expect(await page.locator('tr.log').count()).toBe(Object.keys(HOSTILE).length))
    await expectHarmless(page)
    const heights = await page.evaluate<readonly number[]>(
      '[...document.querySelectorAll("tr.log")].map((row) => row.getBoundingClientRect().height)',
    )
    expect(Math.max(...heights) - Math.min(...heights)).toBeLessThan(2)
  })

  test.each(Object.keys(HOSTILE))('%s: expanded, beside, and as JSON', async (name) => {
    const page = await show(`/event-logs?q=correlationKey:${name}`)
    await page.locator('tr.log .text').click()
    await page.locator('tr.detail').waitFor()
    await expectHarmless(page)
    await page.getByRole('button', { name: 'Open beside' }).click()
    const panel = page.getByRole('complementary', { name: 'Log', exact: true })
    await panel.waitFor()
    const more = panel.getByRole('button', { name: /^Show [\d,]+ more/ })
    for (let count = await more.count(); count > 0; count = await more.count()) await more.first().click()
    await expectHarmless(page)
    await panel.getByRole('tab', { name: 'JSON' }).click()
    await panel.locator('pre').waitFor()
    await expectHarmless(page)
  })

  test('controls and overrides are told by symbols', async () => {
    const page = await show('/event-logs?q=correlationKey:controls')
    expect(await page.locator('tr.log .text').textContent()).toContain('a␛[31mred␛[0m b␇ c⟨202E⟩desrever')
  })

  test('an application log: category, names, exception, scopes and their terms', async () => {
    const page = await show('/application-logs')
    await expectHarmless(page)
    await page.locator('tr.log .text').click()
    await page.getByRole('button', { name: 'All frames' }).waitFor({ state: 'detached' })
    await expectHarmless(page)
    await page.getByRole('button', { name: 'Open beside' }).click()
    await page.getByRole('complementary', { name: 'Log', exact: true }).waitFor()
    await expectHarmless(page)
    const scopes = page.getByRole('table', { name: 'Values of the scopes' })
    await scopes.getByRole('row').first().hover()
    await scopes
      .getByRole('button', { name: /^Only this/ })
      .first()
      .click()
    await eventually(() => expect(paramsOf(page)['q']).toContain('scope.'))
    await page.getByText('1 log', { exact: true }).waitFor()
    expect(await page.getByText('Searched as text').count()).toBe(0)
    await page.keyboard.press('f')
    await page.waitForURL('**/flows/**')
    expect(await page.evaluate('window.ran')).toBeUndefined()
  })

  test('a long name of a value shows the whole button for the rest of it on a phone', async () => {
    await server.event({ payload: JSON.stringify({ ['k'.repeat(200)]: 1 }), correlationKey: 'long-name' })
    await server.total('event', Object.keys(HOSTILE).length + 1)
    const page = await show('/event-logs?q=correlationKey:"long-name"', 360)
    await page.locator('tr.log .text').click()
    const cell = page.getByRole('rowheader', { name: /^kkk/ })
    await cell.getByRole('button', { name: 'Show 80 more characters' }).waitFor()
    expect(await cell.evaluate((header) => header.scrollWidth - header.clientWidth)).toBe(0)
  })

  test('the choice of an environment is no wider than the screen', async () => {
    await server.application({ environment: 'x'.repeat(200) })
    await server.total('application', 2)
    const page = await show('/application-logs', 390)
    await page.getByRole('option', { name: 'xxx' }).waitFor({ state: 'attached' })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
  })
})
