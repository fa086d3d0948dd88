import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { BEGIN, CHECKOUT, HOUR, orderOf, SECOND, type SentLog, STAGES, sendLogs, WAREHOUSE } from '../page-flow.ts'
import { paramsOf, SHOWN_MS } from '../page-logs.ts'
import type { Stage } from '../page-stand.ts'
import { clientOf, type StandTeam } from '../page-stand.ts'

/** The order of the embedded tests, sent to the stand's Team. */
function orderIn({ id, event, project, otherProject }: StandTeam, key: string): readonly SentLog[] {
  const here: Readonly<Record<string, string>> = { order: event, [CHECKOUT]: project, [WAREHOUSE]: otherProject }
  const logs = orderOf(key).filter(({ to }) => to !== 'audit')
  return logs.map((log) => ({ ...log, to: here[log.to] ?? `${id}.${log.to}` }))
}

/** Point 3: logs that share a correlationKey. */
export function flowScenarios({ stand, teams, show }: Stage): void {
  const send = (logs: readonly SentLog[]): Promise<void> => sendLogs(logs, clientOf(stand(), teams().flows), SHOWN_MS)
  const order = (key: string): readonly SentLog[] => orderIn(teams().flows, key)
  const rows = (page: Page) => page.locator('.flow-list tbody tr')

  test('a flow is drawn with what has not happened yet, read, zoomed, searched and saved', async () => {
    const logs = order('order-1')
    await send(logs)
    const { page, axe } = await show(teams().flows, '/flows/order-1')
    await page.getByRole('heading', { name: `${logs.length} logs`, exact: true }).waitFor()
    expect(await page.locator('.flow-name').allTextContents()).toEqual([
      ...['Order placed', 'Validate', 'Charge', 'Ship', 'Deliver', 'Checkout API', 'Warehouse'],
    ])
    expect(await page.locator('.flow-unseen').count()).toBe(2)
    expect(await page.locator('.flow-state').textContent()).toBe('stalled')
    expect(await page.locator('.flow-idle').textContent()).toBe('2 h 59 m')
    expect(await axe()).toEqual([])

    const selected = page.locator('.flow-list tr[aria-selected=true]')
    await page.keyboard.press('n')
    await eventually(async () => expect(await selected.textContent()).toContain('timeout'))
    await page.keyboard.press('n')
    await eventually(async () => expect(await selected.textContent()).toContain('shelf is empty'))
    expect(await page.locator('.flow-mark[aria-selected=true]').getAttribute('aria-label')).toContain('Warehouse')
    await page.keyboard.press('Escape')

    const plot = (await page.locator('.flow-plot').boundingBox())!
    const fold = (await page.locator('.flow-fold').boundingBox())!
    await page.mouse.move(plot.x + 4, plot.y + 150)
    await page.mouse.down()
    await page.mouse.move(fold.x - 2, plot.y + 160, { steps: 3 })
    await page.mouse.up()
    await page.getByRole('heading', { name: `7 of ${logs.length} logs` }).waitFor()
    expect(await page.locator('.flow-mini-on').isVisible()).toBe(true)
    await page.keyboard.press('0')
    await page.getByRole('heading', { name: `${logs.length} logs`, exact: true }).waitFor()

    await page.getByLabel('Find in this flow').fill('paynet')
    await page.getByText('2 matches').waitFor()
    await page.keyboard.press('Escape')

    await page.getByRole('button', { name: 'Export' }).click()
    const save = async (name: string): Promise<string> => {
      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()])
      return readFile(await file.path(), 'utf8')
    }
    const svg = await save('Drawing as SVG')
    expect(svg).toContain('next, not seen')
    expect(svg).not.toMatch(/var\(--|<script|href/)
    expect((await save('All logs as NDJSON')).trim().split('\n')).toHaveLength(logs.length)
  })

  test('a flow grows while it is looked at, from before its first log to its last Step', async () => {
    const key = 'order/live?#'
    const { page } = await show(teams().flows, `/flows/${encodeURIComponent(key)}`)
    await page.getByText('The page waits for its first log').waitFor()
    const names = ['validate', 'charge', 'ship', 'deliver']
    for (const name of names) {
      await send([{ to: `${teams().flows.event}.${name}`, key, at: Date.now(), text: `done: ${name}` }])
      await page.getByText(`done: ${name}`).waitFor({ timeout: SHOWN_MS })
    }
    await eventually(async () => expect(await page.locator('.flow-state').textContent()).toBe('finished'), SHOWN_MS)
    expect(await page.locator('.flow-unseen').count()).toBe(0)
  })

  test('recent flows are listed by their last log, with state, and found by part of a key', async () => {
    await send(order('recent-old'))
    await send([{ to: `${teams().flows.event}.charge`, key: 'recent-bad', at: BEGIN + 5 * HOUR, level: 'Error' }])
    const { page, axe } = await show(teams().flows, '/flows')
    await page.getByLabel('Part of a correlationKey', { exact: false }).fill('RECENT-')
    const keys = page.locator('.flows-key')
    await eventually(async () => expect(await keys.allTextContents()).toEqual(['recent-bad', 'recent-old']), SHOWN_MS)
    expect(await page.getByRole('row', { name: 'recent-bad' }).textContent()).toMatch(/failed.*Order placed/)
    expect(await axe()).toEqual([])
    await keys.first().click()
    await page.waitForURL('**/flows/recent-bad*')
    await rows(page).first().waitFor()
  })

  test('two thousand logs in forty lanes are drawn with few nodes, and the list follows the window', async () => {
    const key = 'import-1'
    const team = teams().flows
    await send(
      Array.from({ length: 2_000 }, (_, index): SentLog => {
        const lane = index % 40
        const level = index % 97 === 0 ? 'Error' : 'Information'
        const log = { key, level, at: BEGIN + ((index * 7_919) % 2_000) * 3 * SECOND, text: `row ${index}` }
        if (lane < STAGES) return { ...log, to: `${team.id}.import.${lane}` }
        return { ...log, to: lane === STAGES ? team.project : team.otherProject, category: 'Import.Worker' }
      }),
    )
    const { page } = await show(teams().flows, `/flows/${key}`)
    await page.getByRole('heading', { name: '2,000 logs', exact: true }).waitFor({ timeout: SHOWN_MS })
    await eventually(async () => expect(await page.getByRole('option').count()).toBeGreaterThan(1_000))
    const nodes = await page.evaluate<number>(`document.querySelectorAll('.flow-drawing svg *').length`)
    expect(nodes).toBeLessThan(3_000)
    await page.getByRole('button', { name: 'Zoom in (+)' }).click()
    await eventually(() => expect(paramsOf(page)['from']).toBeDefined())
    await page.getByRole('heading', { name: /^[\d,]+ of 2,000 logs$/ }).waitFor()
  })
}
