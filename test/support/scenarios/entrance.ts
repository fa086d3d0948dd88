import { expect, test } from 'vitest'
import { createClient } from '../api.ts'
import { eventually } from '../eventually.ts'
import { expectRows, signInAgain, typeSearch } from '../page-logs.ts'
import type { Stage } from '../page-stand.ts'
import { clientOf } from '../page-stand.ts'

/** Point 1: signing in and out, the end of sessions, and the separation of Teams. */
export function entranceScenarios({ stand, teams, show, open, tolerate }: Stage): void {
  test('one signs in with a key, sees that Team and no other, and signs out', async () => {
    tolerate(/status of 401/)
    const { entrance, rivals } = teams()
    for (const [team, payload] of [
      [entrance, 'made by us'],
      [rivals, 'made by rivals'],
    ] as const) {
      const client = clientOf(stand(), team)
      await client.event({ payload, correlationKey: 'shared-key' })
      await client.total('event', 1)
    }
    const { page, context } = await open(stand().page)
    await page.getByLabel('Team key').fill('sl_not-a-key')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('not a live key').waitFor()
    await page.getByLabel('Team key').fill(entrance.key)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: entrance.name }).waitFor()
    await expectRows(page, ['made by us'])
    expect(await context.cookies()).toMatchObject([{ name: 'sluice_session', httpOnly: true, sameSite: 'Strict' }])
    const kept = await page.evaluate<string>(
      'document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage }) + location.href + document.body.innerHTML',
    )
    expect(kept).not.toContain(entrance.key)

    for (const path of ['/event-logs?q=made', '/flows/shared-key', '/team', '/flows']) {
      await page.goto(stand().page + path)
      await page.getByRole('button', { name: entrance.name }).waitFor()
      await page.waitForLoadState('networkidle')
      expect(await page.locator('main').textContent()).not.toMatch(/rivals/)
    }

    await page.getByRole('button', { name: entrance.name }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Team key').waitFor()
    expect(await context.cookies()).toEqual([])
    await page.reload()
    await page.getByLabel('Team key').waitFor()
    expect(await page.getByRole('navigation').count()).toBe(0)
  })

  test('a tab follows when another one signs in as another Team, and gives that Team nothing of the one before', async () => {
    const { entrance, rivals } = teams()
    const { page, context } = await show(entrance, '/application-logs')
    const held = page.getByLabel('Your key, for what you copy')
    await held.fill(entrance.key)
    const other = await context.newPage()
    await other.goto(`${stand().page}/event-logs`)
    await other.getByRole('button', { name: entrance.name }).click()
    await other.getByRole('button', { name: 'Sign out' }).click()
    await other.getByLabel('Team key').fill(rivals.key)
    await other.keyboard.press('Enter')
    await other.getByRole('button', { name: rivals.name }).waitFor()
    await page.evaluate("dispatchEvent(new Event('focus'))")
    await page.getByRole('button', { name: rivals.name }).waitFor()
    expect(await held.inputValue()).toBe('')
  })

  test('a session that ends with its key asks for another one, over the page as it was', async () => {
    tolerate(/status of 401/)
    const { page: url } = stand()
    const { entrance } = teams()
    const { data } = await createClient(url, entrance.key).post('/api/team/keys', {})
    const [key, prefix] = [String(data['key']), String(data['prefix'])]
    const opens = async (): Promise<boolean> => (await createClient(url, key).get('/api/team')).success
    await eventually(opens)
    const { page } = await show({ ...entrance, key }, '/event-logs?utc=1')
    const search = await typeSearch(page, 'half a sentence')
    await fetch(`${url}/api/team/keys/${prefix}`, { method: 'DELETE', headers: { 'x-api-key': entrance.key } })
    await eventually(async () => expect(await opens()).toBe(false))
    await page.keyboard.press('Enter')
    await signInAgain(page, entrance.key)
    expect(await search.inputValue()).toBe('half a sentence')
    const { pathname, searchParams } = new URL(page.url())
    expect([pathname, searchParams.get('q'), searchParams.get('utc')]).toEqual(['/event-logs', 'half a sentence', '1'])
  })

  test('too many wrong keys have to wait', async () => {
    tolerate(/status of (401|429)/)
    try {
      const { page, context } = await open(stand().page)
      const wrong = { data: { apiKey: 'sl_not-a-key' }, headers: { origin: stand().page } }
      await Promise.all(Array.from({ length: 20 }, () => context.request.post(`${stand().page}/api/session`, wrong)))
      await page.getByLabel('Team key').fill('sl_not-a-key')
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByText(/Too many attempts. Try again in \d+ s/).waitFor()
    } finally {
      // The failures counted against this address would lock out the other scenarios.
      await stand().stopPage()
      await stand().startPage()
    }
  })
}
