import { execFileSync, spawnSync } from 'node:child_process'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Envelope } from '../support/api.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { copied, overflow, signInAgain } from '../support/page-logs.ts'
import { type PageServer, startPageServer, startWithRegistry } from '../support/page-server.ts'

const NARROW = { width: 390, height: 844 }
/** The lines that the browser writes into its console where a change is refused, and where the session has ended. */
const REFUSED = /status of (409|400|401|404)/

const dialog = (page: Page) => page.getByRole('dialog')
const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name })
const row = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(`^${name} `) })

describeWithBrowser("the page of a Team's settings", ({ open, team, serve, tolerate }) => {
  let server: PageServer
  beforeAll(async () => {
    server = await startPageServer()
  }, 60_000)
  afterAll(() => server.close())

  const opened = async (path = '/team', more = {}) => (await open(server.url, { key: server.key, path, ...more })).page
  const act = async (page: Page, of: string, what: string): Promise<void> => {
    await button(page, `Actions for ${of}`).click()
    await page.locator('.menu').getByRole('button', { name: what }).click()
  }
  const send = (uniqueIdentifier: string) =>
    server.client.post('/api/ExternalLogs', { uniqueIdentifier, payload: 'x', level: 'Error' })

  test('shows what the Team owns, and creates, renames, archives and restores it', async () => {
    const page = await opened()
    await button(page, 'New Event').click()
    await dialog(page).getByLabel('Identifier').fill('refund')
    await dialog(page).getByLabel('Name', { exact: true }).fill('Refund')
    await button(page, 'Create the Event').click()
    await row(page, 'Refund').waitFor()
    expect((await send('refund')).success).toBe(true)

    await act(page, 'Refund', 'New Step')
    await dialog(page).getByLabel('Identifier').fill('refund.pay')
    await button(page, 'Create the Step').click()
    await row(page, 'refund.pay').waitFor()
    const { data } = await server.client.get<{ events: { identifier: string; steps: object[] }[] }>('/api/team')
    expect(data.events.find(({ identifier }) => identifier === 'refund')?.steps).toMatchObject([
      { identifier: 'refund.pay' },
    ])

    await act(page, 'Refund', 'Rename')
    await dialog(page).getByLabel('Name').fill('Money back')
    await button(page, 'Rename').click()
    await row(page, 'Money back').waitFor()

    await act(page, 'Money back', 'Archive')
    await page.keyboard.press('Escape')
    expect((await send('refund')).success).toBe(true)
    await act(page, 'Money back', 'Archive')
    await button(page, 'Archive it').click()
    await row(page, 'Money back').waitFor({ state: 'detached' })
    for (const identifier of ['refund', 'refund.pay'])
      expect((await send(identifier)).error.message).toContain('is archived')
    await button(page, 'Show 2 archived').click()
    await act(page, 'Money back', 'Restore')
    await button(page, /archived/).waitFor({ state: 'detached' })
    expect((await send('refund.pay')).success).toBe(true)
  })

  test('shows the quota, and what was refused for it', async () => {
    const own = await serve({ QUOTA_ENTRIES_PER_SECOND: '0' })
    const log = { uniqueIdentifier: 'order-placed', payload: 'x', level: 'Error' }
    expect((await own.client.post('/api/ExternalLogs', log)).error.code).toBe('rate_limited')
    const { page } = await open(own.url, { key: own.key, path: '/team' })
    await page.getByRole('heading', { name: 'Quota' }).waitFor()
    await page.getByText('0 entries a second: nothing is taken.').waitFor()
    await eventually(async () => {
      await page.reload()
      await page.getByText('1 request was refused for it in 24 h, last').waitFor({ timeout: 1_000 })
    })
    const without = await opened()
    await row(without, 'Order placed').waitFor()
    expect(await without.getByRole('heading', { name: 'Quota' }).count()).toBe(0)
  })

  test('creates a Project and shows when something was last seen', async () => {
    const page = await opened()
    await button(page, 'New Project').click()
    await dialog(page).getByLabel('Name').fill('Worker')
    await button(page, 'Create the Project').click()
    const worker = row(page, 'Worker')
    await worker.getByText('not in 24 h').waitFor()
    const id = (await worker.locator('bdi.mono').textContent()) ?? ''
    const log = { uniqueIdentifier: id, categoryName: 'A', message: 'm', level: 'Error' }
    expect((await server.client.post('/api/ApplicationLogs', log)).success).toBe(true)
    await eventually(async () => {
      await page.reload()
      await worker.getByText(/now|\ds ago|\d s ago/).waitFor({ timeout: 1_000 })
    }, 15_000)
  })

  test('finds an Event with its Steps in a long list, by the name or the identifier of any of them', async () => {
    const own = await team()
    const { page, axe } = await open(own.url, { key: own.key, path: '/team' })
    const field = page.getByRole('searchbox', { name: 'Find in Events and Steps' })
    await row(page, 'Order placed').waitFor()
    expect(await field.count()).toBe(0)
    for (let n = 0; n < 20; n++) {
      await own.client.post('/api/team/events', { identifier: `refund.${n}`, name: `Money back ${n}` })
      await own.client.post('/api/team/steps', { identifier: `pay.${n}`, event: `refund.${n}` })
    }
    await page.reload()
    const found = page.locator('.panel').filter({ has: field }).locator('tbody bdi.mono')
    for (const [text, ...identifiers] of [
      ['BACK 19', 'refund.19', 'pay.19'],
      [' pay.7 ', 'refund.7', 'pay.7'],
    ] as const) {
      await field.fill(text)
      await eventually(async () => expect(await found.allTextContents()).toEqual(identifiers))
    }
    expect(await axe()).toEqual([])
    await field.fill('nowhere')
    await page.getByText('Nothing has “nowhere” in its name or id.').waitFor()
  })

  test('shows so many lines at once that the browser can, and finds any of the others', async () => {
    const steps = Array.from({ length: 1_100 }, (_, n) => `  - { identifier: step-${n}, team: a }`)
    const registry = `teams: [{ id: a, apiKeys: ["key-of-a-large-team"] }]\nsteps:\n${steps.join('\n')}`
    const own = await startWithRegistry(registry, 'key-of-a-large-team')
    try {
      const { page } = await open(own.url, { key: own.key, path: '/team' })
      const field = page.getByRole('searchbox', { name: 'Find in Events and Steps' })
      const rows = page.locator('.panel').filter({ has: field }).locator('tbody tr')
      const shown = (count: number) => eventually(async () => expect(await rows.count()).toBe(count))
      await shown(500)
      await button(page, 'Show more of 1,100').click()
      await shown(1_000)
      await field.fill('step-999')
      await shown(1)
      expect(await button(page, /^Show more/).count()).toBe(0)
    } finally {
      await own.close()
    }
  })

  test('names the Project for logs of unknown services, marks it and takes it back', async () => {
    const { data } = await server.client.post('/api/team/projects', { name: 'Other services' })
    const id = String((data as unknown as { readonly id: string }).id)
    const defaultProject = async () => {
      const { data } = await server.client.get<{ team: { defaultProject: string | null } }>('/api/team')
      return data.team.defaultProject
    }
    const page = await opened()
    const choose = async (label: string): Promise<void> => {
      await button(page, 'Unknown services').click()
      await dialog(page).getByLabel('Project').selectOption({ label })
      await button(page, 'Save').click()
      await dialog(page).waitFor({ state: 'detached' })
    }
    await choose('Other services')
    await row(page, 'Other services').getByText('unknown services', { exact: true }).waitFor()
    expect(await defaultProject()).toBe(id)

    await button(page, 'Unknown services').click()
    expect(await dialog(page).getByLabel('Project').inputValue()).toBe(id)
    await button(page, 'Cancel').click()
    await choose('None, unless the Team has only one')
    await row(page, 'Other services').getByText('unknown services', { exact: true }).waitFor({ state: 'detached' })
    expect(await defaultProject()).toBeNull()
  })

  test('says in place why something was refused, and keeps what was typed', async () => {
    tolerate(REFUSED)
    const page = await opened()
    await button(page, 'New Event').click()
    await dialog(page).getByLabel('Identifier').fill('order-placed')
    await button(page, 'Create the Event').click()
    await dialog(page)
      .getByRole('alert')
      .getByText(/already\. Choose another one/)
      .waitFor()
    expect(await dialog(page).getByLabel('Identifier').inputValue()).toBe('order-placed')
    await button(page, 'Cancel').click()
    await dialog(page).waitFor({ state: 'detached' })
  })

  test('keeps what was typed when the session is over, and does not say that it is once one has signed in again', async () => {
    tolerate(REFUSED)
    const page = await opened()
    await button(page, 'New Event').click()
    const form = page.getByRole('dialog', { name: 'New Event' })
    await form.getByLabel('Identifier').fill('half-done')
    await page.context().clearCookies()
    await button(page, 'Create the Event').click()
    await signInAgain(page, server.key)
    await eventually(async () => expect(await form.getByRole('alert').textContent()).toBe(''))
    await button(page, 'Create the Event').click()
    await row(page, 'half-done').waitFor()
  })

  test('text of names and identifiers is text', async () => {
    const identifier = '<img src=x onerror=alert(1)>\u202e'
    await server.client.post('/api/team/events', { identifier, name: '<b>bold</b>' })
    const page = await opened()
    await page.getByText('<b>bold</b>').waitFor()
    await page.getByText('<img src=x onerror=alert(1)>⟨202E⟩').waitFor()
    await server.client.post('/api/team/events', { identifier: '..' })
    await page.reload()
    await act(page, '..', 'Rename')
    await dialog(page).getByLabel('Name').fill('Dots')
    await button(page, 'Rename').click()
    await row(page, 'Dots').waitFor()
  })

  describe('keys', () => {
    test('a new one is shown once and copied into snippets; the old one is revoked; the last one stays', async () => {
      const own = await team()
      const { page, context } = await open(own.url, { key: own.key, path: '/team' })
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.getByText('live', { exact: true }).waitFor()
      expect(await button(page, /^Revoke/).count()).toBe(0)

      await button(page, 'New key').click()
      await button(page, 'Make a key').click()
      const key = (await dialog(page).locator('code').textContent()) ?? ''
      expect(key).toMatch(/^sl_/)
      await button(page, 'Copy the key').click()
      expect(await copied(page)).toBe(key)
      await button(page, 'I have copied it').click()
      expect(await page.evaluate<string>('document.body.innerHTML')).not.toContain(key)
      expect(await button(page, 'New key').isDisabled()).toBe(true)
      await page.setViewportSize({ width: 320, height: 844 })
      expect(await overflow(page)).toBe(0)

      await button(page, 'Code that sends to Order placed').click()
      expect(await dialog(page).locator('pre').textContent()).toContain(`X-API-Key: ${key.slice(0, 6)}••••••••`)
      await button(page, 'Copy').click()
      await eventually(async () => expect(await copied(page)).toContain(key))
      await page.keyboard.press('Escape')

      await button(page, `Revoke ${key.slice(0, 6)}`).click()
      await button(page, 'Revoke it').click()
      await page.getByText('1 revoked').waitFor()
      const kept = await page.evaluate<string>('JSON.stringify(localStorage) + document.cookie + location.href')
      expect(kept).not.toContain(key)
    })

    test('all are replaced at once, and one stays signed in', async () => {
      const own = await team()
      const { page } = await open(own.url, { key: own.key, path: '/team' })
      await button(page, 'Replace all').click()
      await button(page, 'Replace all keys').click()
      const key = (await dialog(page).locator('code').textContent()) ?? ''
      await button(page, 'I have copied it').click()
      await page.getByText(`${key.slice(0, 6)}… you signed in with it`).waitFor()
      expect((await own.client.get('/api/team')).error.code).toBe('invalid_api_key')
    })

    test('the key that one signed in with says so before it is revoked, and ends the session', async () => {
      tolerate(REFUSED)
      const own = await team()
      const { data } = (await own.client.post('/api/team/keys', {})) as Envelope<{ key: string }>
      const { page } = await open(own.url, { key: own.key, path: '/team' })
      await button(page, `Revoke ${own.key.slice(0, 6)}`).click()
      await dialog(page).getByText('your session ends as well').waitFor()
      await button(page, 'Revoke it').click()
      await signInAgain(page, data.key)
      await page.getByText('1 revoked').waitFor()
    })
  })

  describe('the first minute', () => {
    test('waits, says when the first log is here, and shows it', async () => {
      const own = await team()
      const { page } = await open(own.url, { key: own.key, path: '/event-logs' })
      await page.getByText('Waiting for the first event log').waitFor()
      expect(await page.locator('pre').textContent()).toContain(`${own.url}/api/ExternalLogs`)
      await own.client.post('/api/ExternalLogs', { uniqueIdentifier: own.identifier, payload: 'hello', level: 'Error' })
      await page.getByText('The first event log is here').waitFor()
      await page.getByText('Waiting for the first').waitFor({ state: 'detached' })
      await page.getByText('hello').first().waitFor()
    })

    test('the code works when it is pasted, in every language that is there', async () => {
      const own = await team()
      const { page, context } = await open(own.url, { key: own.key, path: '/application-logs' })
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.getByLabel('Your key, for what you copy').fill(own.key)
      const snippet = async (language: string): Promise<string> => {
        await page.getByRole('tab', { name: language }).click()
        await button(page, /^Cop(y|ied)$/).click()
        return eventually(async () => {
          const text = await copied(page)
          expect(text).toContain((await page.locator('pre').textContent())?.slice(0, 20) ?? '?')
          expect(text).toContain(own.key)
          return text
        })
      }
      const runs: readonly (readonly [string, string, readonly string[]])[] = [
        ['cURL', 'bash', ['-c']],
        ['TypeScript', process.execPath, ['--input-type=module', '-e']],
        ['Python', 'python3', ['-c']],
      ]
      let sent = 0
      for (const [language, program, args] of runs) {
        const code = await snippet(language)
        if (spawnSync(program, ['--version']).error !== undefined) continue
        expect(execFileSync(program, [...args, code], { stdio: 'pipe' }).toString()).toMatch(/success"?: ?true/)
        sent += 1
      }
      expect(sent).toBeGreaterThanOrEqual(2)
      await eventually(async () => expect(await own.client.all('/api/application-logs')).toHaveLength(sent))
    }, 60_000)

    test('a sample flow goes through the gateway, and one is taken to it', async () => {
      const own = await team()
      const { page } = await open(own.url, { key: own.key, path: '/flows' })
      await page.getByText('Waiting for the first flow').waitFor()
      await button(page, 'Send a sample flow').click()
      await page.getByText(/logs went through the gateway/).waitFor()
      await page.waitForURL('**/flows/sample-*')
      await page.getByText('The sample service did not answer').first().waitFor()
    })

    test('one who goes elsewhere while a sample flow is awaited stays there', async () => {
      const own = await team()
      const { page } = await open(own.url, { key: own.key, path: '/flows' })
      const asked = Promise.withResolvers<void>()
      const shown = Promise.withResolvers<void>()
      await page.route(/api\/flows\?q=sample-/, async (route) => {
        asked.resolve()
        await shown.promise
        await route.continue()
      })
      await button(page, 'Send a sample flow').click()
      await asked.promise
      await page.getByRole('link', { name: 'Team', exact: true }).first().click()
      await page.waitForURL('**/team')
      shown.resolve()
      await page.getByText(/logs went through the gateway/).waitFor()
      expect(new URL(page.url()).pathname).toBe('/team')
    })

    test('a Team without an Event is told to create one', async () => {
      const own = await team()
      await fetch(`${own.url}/api/team/events/${own.identifier}`, {
        method: 'PATCH',
        headers: { 'x-api-key': own.key, 'content-type': 'application/json' },
        body: '{"archived":true}',
      })
      const { page } = await open(own.url, { key: own.key, path: '/event-logs' })
      await page.getByText('The Team has no Event yet').waitFor()
    })
  })

  describe('how it looks', () => {
    let fresh: PageServer
    beforeAll(async () => {
      fresh = await startPageServer()
    }, 60_000)
    afterAll(() => fresh.close())

    test.each([
      ['wide', {}],
      ['narrow', NARROW],
    ])(
      'axe finds nothing, and nothing sticks out: %s',
      async (_how, look) => {
        for (const path of ['/team', '/event-logs']) {
          const { page, axe } = await open(fresh.url, { key: fresh.key, path, ...look })
          await button(page, 'Send a sample flow').waitFor()
          expect(await axe()).toEqual([])
          expect(await overflow(page)).toBe(0)
          if (path !== '/team') continue
          await button(page, 'Code that sends to Ship').click()
          await dialog(page).locator('pre').waitFor()
          expect(await axe()).toEqual([])
          await page.keyboard.press('Escape')
          await button(page, 'New Step').click()
          expect(await axe()).toEqual([])
        }
      },
      60_000,
    )
  })
})
