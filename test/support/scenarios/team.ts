import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { createClient } from '../api.ts'
import { eventually } from '../eventually.ts'
import { copied, expectRows, SHOWN_MS } from '../page-logs.ts'
import type { Stage } from '../page-stand.ts'
import { clientOf } from '../page-stand.ts'

/** Points 4 to 6: what a Team owns, its refusals, and its first minute. */
export function teamScenarios({ stand, teams, show }: Stage): void {
  test('settings: an Event made on the page takes logs; a key is shown once, used and revoked', async () => {
    const team = teams().owners
    const uniqueIdentifier = `${team.id}.refund`
    const { page, axe } = await show(team, '/team')
    const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' })
    const dialog = page.getByRole('dialog')
    const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name} `) })
    const act = async (of: string, what: string): Promise<void> => {
      await button(`Actions for ${of}`).click()
      await page.locator('.menu').getByRole('button', { name: what }).click()
    }
    const send = (key = team.key) =>
      createClient(stand().gateway, key).post('/api/ExternalLogs', {
        ...{ uniqueIdentifier, payload: 'x', level: 'Error' },
      })

    await button('New Event').click()
    await dialog.getByLabel('Identifier').fill(uniqueIdentifier)
    await dialog.getByLabel('Name', { exact: true }).fill('Refund')
    await button('Create the Event').click()
    await row('Refund').waitFor()
    await eventually(async () => expect((await send()).success).toBe(true), SHOWN_MS)

    await button('New key').click()
    await button('Make a key').click()
    const key = (await dialog.locator('code').textContent()) ?? ''
    await button('I have copied it').click()
    expect(await page.evaluate<string>('document.body.innerHTML')).not.toContain(key)
    await eventually(async () => expect((await send(key)).success).toBe(true), SHOWN_MS)
    await button('Code that sends to Refund').click()
    expect(await dialog.locator('pre').textContent()).toContain(`${stand().gateway}/api/ExternalLogs`)
    for (const language of ['C#', 'TypeScript', 'Python']) await page.getByRole('tab', { name: language }).click()
    expect(await axe()).toEqual([])
    await page.keyboard.press('Escape')

    await button(`Revoke ${key.slice(0, 6)}`).click()
    await button('Revoke it').click()
    await page.getByText('1 revoked').waitFor()
    await eventually(async () => expect((await send(key)).error.code).toBe('invalid_api_key'), SHOWN_MS)

    await act('Refund', 'Rename')
    await dialog.getByLabel('Name').fill('Money back')
    await button('Rename').click()
    await row('Money back').waitFor()
    await act('Money back', 'Archive')
    await button('Archive it').click()
    await row('Money back').waitFor({ state: 'detached' })
    await eventually(async () => expect((await send()).error.message).toContain('is archived'), SHOWN_MS)
    await clientOf(stand(), team).event({ payload: 'seen' })
    await eventually(async () => {
      await page.reload()
      await row('Order placed')
        .getByText(/now|\d s ago/)
        .first()
        .waitFor({ timeout: 1_000 })
    }, SHOWN_MS)
    expect(await axe()).toEqual([])
  })

  test('refused logs: the reason, the nearest identifier, and a command that works once it is mended', async () => {
    const team = teams().senders
    const client = clientOf(stand(), team)
    const { page, axe } = await show(team, '/refused')
    await page.getByText('Nothing was refused', { exact: true }).waitFor()
    const body = { uniqueIdentifier: `${team.id}.odrer`, payload: "it's <b>late</b>", level: 'Error' }
    await client.post('/api/ExternalLogs', body, { 'user-agent': 'acme-shop/2.1' })
    await client.post('/api/ApplicationLogs/batch', {
      uniqueIdentifier: team.project,
      logEntries: [
        { categoryName: 'A', message: 'm', level: 'Error' },
        { categoryName: 'A', message: 'm', level: 'Error', eventId: 'x' },
      ],
    })
    const one = page.locator('details', { hasText: `${team.id}.odrer` })
    await one.locator('summary').click({ timeout: SHOWN_MS })
    await one.getByText(`Did you mean ${team.event}?`).waitFor()
    for (const text of [`${team.key.slice(0, 6)}…`, 'acme-shop/2.1', '<b>late</b>'])
      await one.getByText(text).last().waitFor()
    const other = page.getByRole('region', { name: 'invalid_request' }).locator('details')
    await other.locator('summary').click({ timeout: SHOWN_MS })
    await other.getByText('/eventId', { exact: true }).waitFor()
    expect(await axe()).toEqual([])

    await one.locator('summary').click()
    await one.getByRole('button', { name: 'Copy as cURL, with the identifier mended' }).click()
    await eventually(async () => expect(await copied(page)).toContain('curl'))
    const command = (await copied(page)).replace('<API_KEY>', team.key)
    const answer = execFileSync('bash', ['-c', command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    expect(JSON.parse(answer)).toMatchObject({ success: true })
    await client.total('event', 1)
  })

  test('the first minute: code to paste, the wait for the first log, and a sample flow through the gateway', async () => {
    const team = teams().newcomers
    const { page, axe } = await show(team, '/event-logs')
    await page.getByText('Waiting for the first event log').waitFor()
    expect(await page.locator('pre').textContent()).toContain(`${stand().gateway}/api/ExternalLogs`)
    expect(await axe()).toEqual([])
    await page.getByLabel('Your key, for what you copy').fill(team.key)
    await page.getByRole('button', { name: /^Copy$/ }).click()
    await eventually(async () => expect(await copied(page)).toContain(team.key))
    const answer = execFileSync('bash', ['-c', await copied(page)], {
      ...{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    })
    expect(answer).toMatch(/"success": ?true/)
    await page.locator('tr.log').first().waitFor({ timeout: SHOWN_MS })

    await page.goto(`${stand().page}/team`)
    await page.getByRole('button', { name: 'Send a sample flow' }).click()
    await page.waitForURL('**/flows/sample-*', { timeout: SHOWN_MS })
    await page.getByText('The sample service did not answer').first().waitFor({ timeout: SHOWN_MS })

    // An empty list explains why, and offers a remedy.
    await page.goto(`${stand().page}/event-logs?q=nothing-like-it`)
    await page.getByText('Nothing matches').waitFor()
    await page
      .getByRole('button', { name: /^Remove / })
      .first()
      .click()
    await eventually(async () => expect(await page.locator('tr.log').count()).toBeGreaterThan(0))
    await expectRows(page, await page.locator('tr.log .text').allTextContents())
  })
}
