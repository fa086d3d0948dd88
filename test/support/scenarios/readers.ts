import { expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { PLAIN_HOST } from '../open-page.ts'
import { overflow, rowTexts, SHOWN_MS } from '../page-logs.ts'
import { clientOf, MINUTE, type Stage, type Stand, type StandTeam } from '../page-stand.ts'

const KEY = 'order-4711'
const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202e\u001b[31m'

/** Every page, and what shows that it has been read. */
const PAGES = {
  '/event-logs': 'tr.log',
  '/application-logs': 'tr.log',
  '/flows': '.flows-key',
  [`/flows/${KEY}`]: '.flow-list tbody tr',
  '/team': 'tr td',
  '/refused': 'h1',
}

async function fill(stand: Stand, team: StandTeam): Promise<void> {
  const client = clientOf(stand, team)
  const { data } = await client.get<{ total: number }>('/api/event-logs/histogram?buckets=1')
  if (data.total > 0) return
  for (const [step, level] of ['Information', 'Warning', 'Error'].entries())
    await client.event({ step, level, correlationKey: KEY, payload: `${HOSTILE} ${'x'.repeat(20_000)}` })
  await client.applications([
    { message: HOSTILE, categoryName: HOSTILE, correlationKey: KEY, level: 'Critical', exception: HOSTILE },
  ])
  await client.total('event', 3)
  await client.total('application', 1)
  await eventually(async () => {
    const { data } = await client.get<{ summary: { total: number } }>(`/api/flows/${KEY}`)
    expect(data?.summary.total).toBe(4)
  }, SHOWN_MS)
}

/** Point 7: pages that everybody can read; they are the same whatever stores are behind them. */
export function lookScenarios({ stand, teams, show }: Stage): void {
  test.each([
    ['wide', {}],
    ['390 px wide', { width: 390, height: 844, reducedMotion: true }],
  ])(
    'axe finds nothing, nothing sticks out and no text runs, on any page: %s',
    async (_name, look) => {
      await fill(stand(), teams().readers)
      for (const [path, read] of Object.entries(PAGES)) {
        const { page, axe } = await show(teams().readers, path, look)
        await page.locator(read).first().waitFor()
        expect([path, await overflow(page), await axe()]).toEqual([path, 0, []])
        expect(await page.evaluate('window.hacked')).toBeUndefined()
        expect(await page.locator('main img, main script').count()).toBe(0)
        await page.close()
      }
    },
    2 * MINUTE,
  )
}

/** Point 7, and bad luck: who reads it how, text that means harm, and a server that goes. */
export function readerScenarios({ stand, teams, show, open, tolerate }: Stage): void {
  test('keys go from page to page and are told by ?; times in UTC, the theme and what is copied are as one likes', async () => {
    await fill(stand(), teams().readers)
    const { page } = await show(teams().readers, '/event-logs', { zone: 'Asia/Kolkata' })
    await page.locator('tr.log').first().waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('Escape')
    const local = await page.locator('tr.log .at').first().textContent()
    await page.keyboard.press('u')
    await eventually(async () => expect(await page.locator('tr.log .at').first().textContent()).not.toBe(local))
    expect(new URL(page.url()).searchParams.get('utc')).toBe('1')
    await page.keyboard.press('a')
    await page.waitForURL('**/application-logs*')
    await page.keyboard.press('g')
    await page.getByLabel('correlationKey', { exact: true }).fill(KEY)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/flows/${KEY}*`)

    const background = 'getComputedStyle(document.body).backgroundColor'
    const light = await page.evaluate(background)
    await page.getByRole('button', { name: teams().readers.name }).click()
    await page.getByRole('button', { name: 'Dark' }).click()
    const dark = await page.evaluate(background)
    expect(dark).not.toBe(light)
    await page.reload()
    expect(await page.evaluate(background)).toBe(dark)

    // Under a name and without encryption, where browsers give no clipboard.
    const plain = await open(stand().page.replace('127.0.0.1', PLAIN_HOST), { path: `/flows/${KEY}` })
    await plain.page.getByLabel('Team key').fill(teams().readers.key)
    await plain.page.keyboard.press('Enter')
    await plain.page.getByRole('button', { name: 'Copy the correlationKey' }).click()
    await plain.page.keyboard.press('g')
    const box = plain.page.getByLabel('correlationKey', { exact: true })
    await box.press('ControlOrMeta+V')
    expect(await box.inputValue()).toBe(KEY)
  })

  test('a server that is gone is said once; what is typed stays, and the tail goes on when it is back', async () => {
    await fill(stand(), teams().readers)
    tolerate(/net::ERR_|Failed to load resource/)
    const client = clientOf(stand(), teams().readers)
    const { page } = await show(teams().readers, '/event-logs?live=1')
    await page.locator('.tail.live').waitFor()
    const search = page.getByRole('combobox', { name: 'Search' })
    await search.fill('half a sentence')
    await stand().stopPage()
    await page.locator('.tail.away').waitFor()
    await page.getByText('Nothing you typed is lost').waitFor()
    await stand().startPage()
    await page.getByText('Nothing you typed is lost').waitFor({ state: 'detached', timeout: SHOWN_MS })
    await page.locator('.tail.live').waitFor({ timeout: SHOWN_MS })
    await client.event({ payload: 'after it was gone' })
    await eventually(async () => expect((await rowTexts(page))[0]).toBe('after it was gone'), SHOWN_MS)
    expect(await search.inputValue()).toBe('half a sentence')
  })
}
