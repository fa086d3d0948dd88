import type { Locator, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { problem } from '../../shared/contract/errors.ts'
import { failureBody } from '../../shared/http/answer.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { PLAIN_HOST } from '../support/open-page.ts'
import { signInAgain, typeSearch } from '../support/page-logs.ts'
import { type PageServer, startPageServer } from '../support/page-server.ts'

/** The lines that the browser itself writes into its console for a request that was refused or had no answer. */
const REFUSED = /Failed to load resource: the server responded with a status of 401/
const UNREACHABLE = /net::ERR_/

/** The link to a page in the header. */
const tab = (page: Page, name: string): Locator =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true })

/** Holds answers that refuse requests to these URLs until `held` resolves; `refused` resolves at the first one. */
async function holdRefusals(page: Page, urls: string) {
  const refused = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  await page.route(urls, async (route) => {
    const response = await route.fetch()
    if (response.ok()) return route.fulfill({ response })
    refused.resolve()
    await held.promise
    await route.fulfill({ response })
  })
  return { refused, held }
}

describeWithBrowser('the page', ({ open, serve, tolerate }) => {
  let server: PageServer
  beforeAll(async () => {
    server = await startPageServer()
  }, 60_000)
  afterAll(async () => {
    await server.close()
  })

  describe('signing in', () => {
    test('one paste of the key signs in, and the Team is shown', async () => {
      const { page, context } = await open(server.url)
      await page.getByLabel('Team key').waitFor()
      await expect(page.evaluate('document.activeElement.id')).resolves.toBe('api-key')
      await page.evaluate(
        `document.activeElement.dispatchEvent(Object.assign(new Event('paste', { bubbles: true })));
         document.activeElement.value = ${JSON.stringify(` ${server.key}\n`)}`,
      )
      await tab(page, 'Event logs').waitFor()
      await page.getByRole('button', { name: 'Demo' }).waitFor()
      await page.waitForURL('**/event-logs')
      const [cookie] = await context.cookies()
      expect(cookie).toMatchObject({ name: 'sluice_session', httpOnly: true, sameSite: 'Strict', path: '/' })
    })

    test('a wrong key is refused where it was entered, and the right one is taken after it', async () => {
      tolerate(REFUSED)
      const { page } = await open(server.url, { path: '/team' })
      await page.getByLabel('Team key').fill('sl_not-a-key')
      await page.getByRole('button', { name: 'Sign in' }).click()
      // The advice is for a reader, not for a sender of logs.
      const told = 'This is not a live key of any Team. Check that it was copied whole.'
      await page.getByRole('alert').getByText(told, { exact: true }).waitFor()
      await page.getByLabel('Team key').fill(server.key)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { level: 1, name: /Team|Demo/ }).waitFor()
      expect(new URL(page.url()).pathname).toBe('/team')
    })

    test('a browser that keeps no cookie is told so, not that its session is over', async () => {
      const { page, context } = await open(server.url)
      await page.route('**/api/session', async (route) => {
        const response = await route.fetch()
        await context.clearCookies()
        const { 'set-cookie': _refused, ...headers } = response.headers()
        await route.fulfill({ response, headers })
      })
      await page.getByLabel('Team key').fill(server.key)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').getByText('This browser does not keep the cookie').waitFor()
    })

    test('one who signed out stays so, when an answer of before comes late', async () => {
      const { page } = await open(server.url, { key: server.key })
      const asked = Promise.withResolvers<void>()
      const held = Promise.withResolvers<void>()
      await page.route('**/api/session', async (route) => {
        if (route.request().method() !== 'GET') return route.continue()
        const response = await route.fetch()
        asked.resolve()
        await held.promise
        await route.fulfill({ response })
      })
      await page.evaluate("dispatchEvent(new Event('focus'))")
      await asked.promise
      await page.getByRole('button', { name: 'Demo' }).click()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('Team key').waitFor()
      const late = page.waitForEvent('requestfinished', (request) => request.url().endsWith('/api/session'))
      held.resolve()
      await late
      await page.evaluate('new Promise(requestAnimationFrame)')
      expect(await page.getByRole('navigation').count()).toBe(0)
    })
  })

  test('shows that it is waiting until it knows who is signed in', async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const prepare = (page: Page) =>
      page.route('**/api/session', async (route) => {
        await held
        await route.continue()
      })
    const { page } = await open(server.url, { key: server.key, path: '/team', prepare })
    await page.locator('main > .busy').waitFor({ state: 'attached' })
    release()
    await page.getByRole('heading', { name: 'Events and Steps' }).waitFor()
    expect(await page.locator('main > .busy').count()).toBe(0)
  })

  test('a server that cannot tell who is signed in is asked again once, however often somebody came back to the page', async () => {
    tolerate(/status of 503/)
    const { page } = await open(server.url, { key: server.key })
    await page.getByRole('button', { name: 'Demo' }).waitFor()
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 60_000)
    let asked = 0
    const body = failureBody(problem('server_error', null, 'The registry is being read.'))
    await page.route('**/api/session', (route) => {
      asked += 1
      return route.fulfill({ status: 503, body })
    })
    const ask = "fetch('/api/session').then((answer) => answer.text())"
    for (let times = 0; times < 3; times += 1) {
      await page.evaluate(`dispatchEvent(new Event('focus'))`)
      await page.evaluate(ask)
    }
    asked = 0
    await page.clock.runFor(2_500)
    await page.evaluate(ask)
    const inTwoSeconds = asked
    await page.clock.resume()
    expect(inTwoSeconds).toBe(2)
  })

  describe('a session that is over', () => {
    test('asks again over the page: what was typed, and where one was, stay', async () => {
      tolerate(REFUSED)
      const { page, context } = await open(server.url, { key: server.key, path: '/application-logs?utc=1' })
      const search = await typeSearch(page, 'half a sentence')
      const over = Promise.withResolvers<void>()
      // No other request is refused before the search is sent: the dialog that appears then would take the key.
      await page.route('**/api/**', async (route) => {
        await over.promise
        await route.continue()
      })
      await page.keyboard.press('Enter')
      await context.clearCookies()
      over.resolve()
      await page.getByRole('dialog', { name: 'Your session is over' }).waitFor()
      // Browsers let a page stop the first one only.
      for (let times = 0; times < 3; times += 1) await page.keyboard.press('Escape')
      const answered = page.waitForResponse((one) => one.url().includes('/api/application-logs') && one.ok())
      await signInAgain(page, server.key)
      await expect(search.inputValue()).resolves.toBe('half a sentence')
      const { pathname, searchParams } = new URL(page.url())
      expect([pathname, searchParams.get('q'), searchParams.get('utc')]).toEqual([
        '/application-logs',
        'half a sentence',
        '1',
      ])
      await answered
    })

    test('leaves a menu open, with what was typed in it', async () => {
      tolerate(REFUSED)
      const { page, context } = await open(server.url, { key: server.key, path: '/application-logs' })
      await page.getByRole('button', { name: 'Saved', exact: true }).click()
      const name = page.getByLabel('Save this search for the Team as')
      await name.fill('Slow carts')
      await context.clearCookies()
      await page.keyboard.press('Enter')
      await signInAgain(page, server.key)
      expect(await name.inputValue()).toBe('Slow carts')
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'Slow carts' }).waitFor()
    })

    test('is over once: a refusal of before that arrives when one has signed in again asks for nothing', async () => {
      tolerate(REFUSED)
      const { page, context } = await open(server.url, { key: server.key, path: '/application-logs' })
      await typeSearch(page, 'half a sentence')
      const { refused, held } = await holdRefusals(page, '**/histogram?*')
      await context.clearCookies()
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog', { name: 'Your session is over' })
      await dialog.waitFor()
      await refused.promise
      // Nothing of what is asked for anew takes the place of the one that is held.
      await page.evaluate('AbortController.prototype.abort = () => undefined')
      await signInAgain(page, server.key)
      const late = page.waitForResponse((one) => one.url().includes('/histogram') && one.status() === 401)
      held.resolve()
      await (await late).finished()
      await page.getByRole('button', { name: 'Demo' }).click()
      await page.getByRole('button', { name: 'Sign out' }).waitFor()
      expect(await dialog.count()).toBe(0)
    })

    test('is not over again for refusals of what was asked for just before one signed in', async () => {
      tolerate(REFUSED)
      const { page, context } = await open(server.url, { key: server.key, path: '/application-logs' })
      await typeSearch(page, 'half a sentence')
      await page.keyboard.press('Enter')
      await page.waitForURL(/q=/)
      await context.clearCookies()
      await page.evaluate("dispatchEvent(new Event('focus'))")
      const dialog = page.getByRole('dialog', { name: 'Your session is over' })
      await dialog.waitFor()
      const { refused, held } = await holdRefusals(page, '**/api/application-logs**')
      // Nothing of what is asked for anew takes the place of those that are held.
      await page.evaluate('AbortController.prototype.abort = () => undefined')
      await page.goBack()
      await refused.promise
      await signInAgain(page, server.key)
      const late = page.waitForResponse((one) => one.url().includes('/histogram') && one.status() === 401)
      held.resolve()
      await (await late).finished()
      await page.evaluate('new Promise(requestAnimationFrame)')
      expect(await dialog.count()).toBe(0)
    })
  })

  test('a session ends with the key that it was given to, and goes on with another key of the Team', async () => {
    tolerate(REFUSED)
    const own = await serve()
    const { page } = await open(own.url, { key: own.key, path: '/application-logs' })
    const search = await typeSearch(page, 'half a sentence')
    const { data } = await own.client.post('/api/team/keys', { revokeOld: true })
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Your session is over' })
    await dialog.waitFor()
    await dialog.getByLabel('Team key').fill(own.key)
    await page.keyboard.press('Enter')
    await dialog.getByText('not a live key').waitFor()
    await signInAgain(page, String(data['key']))
    await expect(search.inputValue()).resolves.toBe('half a sentence')
  })

  describe('a server that is away', () => {
    test('is said once, asked for again, and what is typed stays', async () => {
      tolerate(UNREACHABLE)
      const away = await serve()
      const { page } = await open(away.url, { key: away.key })
      await page.getByRole('button', { name: 'Demo' }).waitFor()
      await page.waitForLoadState('networkidle')
      await page.keyboard.press('g')
      await page.getByLabel('correlationKey').fill('order-4711')
      await away.stop()
      await page.keyboard.press('Enter')
      await page.getByText('Nothing you typed is lost').waitFor()
      await eventually(() => expect(new URL(page.url()).pathname).toBe('/flows/order-4711'))
      await away.restart()
      await page
        .getByRole('button', { name: 'Try now' })
        .click({ timeout: 5_000 })
        .catch(() => undefined)
      await page.getByText('Nothing you typed is lost').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Demo' }).waitFor()
    }, 60_000)

    test.each([
      'event-logs',
      'application-logs?group=template',
      'application-logs?chart=count',
      'flows',
      'flows?view=steps',
      'flows/order-1',
      'refused',
      'watches',
      'team',
    ])('leaves no view empty that one goes to, which loads by itself afterwards: %s', async (path) => {
      tolerate(UNREACHABLE)
      const { page } = await open(server.url, { key: server.key, path: '/application-logs?from=now-1h' })
      await page.waitForLoadState('networkidle')
      await page.clock.install()
      await page.route(/\/(api|assets)\//, (route) => route.abort('connectionrefused'))
      await page.route(`${server.url}/`, (route) => route.abort('connectionrefused'))
      await page.evaluate(`{
        const link = Object.assign(document.createElement('a'), { href: '/${path}' })
        document.body.append(link)
        link.click()
      }`)
      const waits = page.getByRole('main').getByText('No answer from the server yet')
      await waits.waitFor()
      await page.unrouteAll()
      await page.clock.runFor(5_000)
      await waits.waitFor({ state: 'detached' })
    })
  })

  describe('a log store that is away', () => {
    const UNAVAILABLE = /Failed to load resource: the server responded with a status of 503/
    const storeAway = {
      status: 503,
      headers: { 'retry-after': '1' },
      body: failureBody(problem('server_error', null, 'The log store could not answer.')),
    }
    /** Opens a page whose requests to this part of the API are answered so. */
    const openWith = (path: string, part: RegExp, answer: Parameters<Route['fulfill']>[0]) =>
      open(server.url, {
        key: server.key,
        path,
        prepare: (page) => page.route(part, (route) => route.fulfill(answer)),
      })

    test.each(['event-logs', 'flows', 'flows?view=steps', 'flows/order-1', 'refused', 'watches', 'team'])(
      'is told in the words of the page, which reads again by itself: %s',
      async (path) => {
        tolerate(UNAVAILABLE)
        const { page } = await openWith(`/${path}`, /\/api\/(?!session)/, storeAway)
        const alert = page.getByRole('alert').filter({ hasText: 'could not answer' })
        await alert.waitFor()
        expect(await alert.textContent()).toBe('The log store could not answer. Try again in 1 s.Try again')
        await page.unroute(/\/api\/(?!session)/)
        await alert.waitFor({ state: 'detached' })
      },
    )

    test.each([
      ['list', 'application-logs', /application-logs\?/],
      ['counts', 'application-logs', /histogram|choices/],
      ['reason of an empty list', 'application-logs?q=nothing-like-it', /absence/],
      ['log of the address', 'application-logs?id=01981f2e-7c1a-7000-8000-9a3c5b7d1e42', /application-logs\/0/],
      ['code that sends the first log', 'application-logs', /team\/lists/],
    ])('is told where only one part has no answer: %s', async (_, path, part) => {
      tolerate(/Failed to load resource: the server responded with a status of (503|404)/)
      const { page } = await openWith(`/${path}`, part, storeAway)
      const alert = page.getByRole('alert').filter({ hasText: 'could not answer' })
      await alert.waitFor()
      await page.unroute(part)
      await alert.waitFor({ state: 'detached' })
    })

    test('is told where code of the Team would be', async () => {
      tolerate(UNAVAILABLE)
      const { page } = await open(server.url, { key: server.key, path: '/team' })
      await page.route(/snippets/, (route) => route.fulfill(storeAway))
      await page
        .getByRole('button', { name: /^Code that/ })
        .first()
        .click()
      await page.getByRole('dialog').getByRole('alert').waitFor()
      await page.unroute(/snippets/)
      await page.getByRole('dialog').locator('pre').waitFor()
    })

    test('behind a proxy that answers in JSON of its own is told, and read again', async () => {
      tolerate(/Failed to load resource: the server responded with a status of 502/)
      const { page } = await openWith('/refused', /api\/refusals/, { status: 502, json: { message: 'Bad gateway' } })
      await page.getByText('The server does not answer').waitFor()
      await page.unroute(/api\/refusals/)
      await page.getByText('Nothing was refused').waitFor()
    })

    test('is not held for away where a proxy refuses one request', async () => {
      tolerate(/Failed to load resource: the server responded with a status of 403/)
      const blocked = { status: 403, contentType: 'text/html', body: '<html><h1>Blocked</h1></html>' }
      const { page } = await openWith('/application-logs?q=1%3D1', /api\/application-logs\?/, blocked)
      await page
        .getByRole('alert')
        .getByText('A proxy in front of Sluice refused this request with status 403.')
        .waitFor()
      expect(await page.getByText('The server does not answer').count()).toBe(0)
    })

    test('says so where a proxy leads to a sign-in of its own', async () => {
      tolerate(/login\.example/)
      const { page } = await open(server.url, { key: server.key })
      await page.getByRole('button', { name: 'Demo' }).waitFor()
      const redirected = { status: 302, headers: { location: 'https://login.example/' } }
      await page.route('**/api/**', (route) => route.fulfill(redirected))
      // The question of who is signed in is asked once at a time: an earlier one may be without an answer.
      await eventually(async () => {
        await page.evaluate("dispatchEvent(new Event('focus'))")
        expect(await page.getByText('refuses the requests of this page: load it again').isVisible()).toBe(true)
      })
      await page.unroute('**/api/**')
      await page.getByText('refuses the requests of this page').waitFor({ state: 'detached' })
    })

    test('is not taken for one without logs', async () => {
      tolerate(UNAVAILABLE)
      const { page } = await openWith('/application-logs', /\/api\/(?!session)/, storeAway)
      await page.getByRole('alert').waitFor()
      const counts = page.getByRole('region', { name: 'Counts' })
      expect(await counts.textContent()).not.toMatch(/\d/)
      expect(await page.getByRole('region', { name: 'List' }).textContent()).not.toContain('No ')
    })
  })

  describe('how it looks', () => {
    const background = 'getComputedStyle(document.body).backgroundColor'

    test('light or dark as the system says, until one is chosen, and then from the first answer on', async () => {
      const { page } = await open(server.url, { key: server.key, dark: true })
      const dark = await page.evaluate(background)
      await page.getByRole('button', { name: 'Demo' }).click()
      await page.getByRole('button', { name: 'Light' }).click()
      const light = await page.evaluate(background)
      expect(light).not.toBe(dark)
      const reloaded = await page.reload()
      expect(await reloaded?.text()).toContain('<html data-theme="light"')
      expect(await page.evaluate(background)).toBe(light)
      await page.getByRole('button', { name: 'Demo' }).click()
      await page.getByRole('button', { name: 'System' }).click()
      expect(await page.evaluate(background)).toBe(dark)
      expect(await (await page.reload())?.text()).toContain('<html lang="en" translate="no">')
    })

    test('in the words of the logs: browsers do not translate it, as texts that they replaced would never change again', async () => {
      const { page } = await open(server.url, { key: server.key })
      expect(await page.evaluate('document.documentElement.translate')).toBe(false)
    })

    test('at 390 px nothing of pages without logs is wider than the screen', async () => {
      for (const path of ['/application-logs', '/flows']) {
        const { page } = await open(server.url, { key: server.key, path, width: 390, height: 844 })
        await page.locator('.first-minute, .empty').waitFor()
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
      }
    })

    test('pages that a narrow window has no room for fade at its edge, and the focus brings each into sight', async () => {
      const { page } = await open(server.url, { key: server.key, width: 320, height: 256 })
      const nav = page.getByRole('navigation', { name: 'Pages' })
      expect(await nav.evaluate((element) => getComputedStyle(element).maskImage)).toContain('calc(100% - 32px)')
      await nav.getByRole('link').first().focus()
      for (const link of await nav.getByRole('link').all()) {
        expect(await link.evaluate((element) => element === document.activeElement)).toBe(true)
        const { x = 0, width = 0, height = 0 } = (await link.boundingBox()) ?? {}
        expect([x >= 0, Math.floor(x + width) <= 320 - 32, width >= 24, height >= 24]).toEqual([true, true, true, true])
        await page.keyboard.press('Tab')
      }
    })

    test('the menu of the Team has its end in sight in a window of 256 px, which is 1,024 px at 400 % zoom', async () => {
      const { page } = await open(server.url, { key: server.key, width: 320, height: 256 })
      await page.getByRole('button', { name: 'Demo' }).click()
      await page.getByRole('button', { name: 'Sign out' }).scrollIntoViewIfNeeded()
      const { y = 256, height = 0 } = (await page.getByRole('button', { name: 'Sign out' }).boundingBox()) ?? {}
      expect(y + height).toBeLessThanOrEqual(256)
    })

    test.each(['/refused', '/watches', '/team'])('%s tells that what it shows is on its way', async (path) => {
      const { promise: held, resolve: release } = Promise.withResolvers<void>()
      const prepare = (page: Page) =>
        page.route(/api\/(refusals|team)/, async (route) => {
          await held
          await route.continue()
        })
      const { page } = await open(server.url, { key: server.key, path, prepare })
      await page.locator('main .busy').waitFor()
      release()
      await page.locator('main .busy').waitFor({ state: 'detached' })
    })

    test.each([
      ['/event-logs', 390],
      ['/application-logs', 320],
      ['/flows', 768],
    ])('all menus of %s open within the window, %d px wide', async (path, width) => {
      const { page } = await open(server.url, { key: server.key, path, width, height: 844 })
      await page.getByRole('button', { name: 'Saved' }).waitFor()
      const menu = page.locator('.popover > .menu')
      for (const button of await page.locator('.popover > button:visible').all()) {
        await button.click()
        const { x = -1, width: wide = 0 } = (await menu.boundingBox()) ?? {}
        expect([x >= 0, x + wide <= width]).toEqual([true, true])
        await page.keyboard.press('Escape')
        await menu.waitFor({ state: 'detached' })
      }
    })
  })

  describe('whoever cannot see or use a mouse', () => {
    test('the current page is marked in high contrast, which has no backgrounds', async () => {
      const { page } = await open(server.url, { key: server.key, path: '/team' })
      await page.emulateMedia({ forcedColors: 'active' })
      const outline = (name: string): Promise<string> =>
        tab(page, name).evaluate((link) => getComputedStyle(link).outlineStyle)
      expect([await outline('Team'), await outline('Flows')]).toEqual(['solid', 'none'])
    })

    test('a dialog, a menu and a switch have an edge in high contrast, which has no shadows', async () => {
      const { page } = await open(server.url, { key: server.key, path: '/team' })
      await page.emulateMedia({ forcedColors: 'active' })
      const edge = (selector: string) =>
        page.locator(selector).evaluate((element) => getComputedStyle(element).borderTopWidth)
      await page.locator('.team').click()
      expect([await edge('.menu'), await edge('.menu .segments')]).toEqual(['1px', '1px'])
      await page.keyboard.press('Escape')
      await page.keyboard.press('?')
      expect(await edge('dialog')).toBe('1px')
    })

    test('axe finds nothing on the way in', async () => {
      const { page, axe } = await open(server.url)
      await page.getByLabel('Team key').waitFor()
      expect(await axe()).toEqual([])
    })

    test('axe finds nothing in the menu, the help and the dialogs', async () => {
      const { page, axe } = await open(server.url, { key: server.key, path: '/refused' })
      await page.getByRole('button', { name: 'Demo' }).click()
      expect(await axe()).toEqual([])
      await page.keyboard.press('Escape')
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
      expect(await axe()).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    })

    test('keys go where the help says, and do nothing while one types', async () => {
      const { page } = await open(server.url, { key: server.key, path: '/team' })
      await page.getByRole('button', { name: 'Demo' }).waitFor()
      const path = (): string => new URL(page.url()).pathname
      await page.keyboard.press('a')
      await eventually(() => expect(path()).toBe('/application-logs'))
      await page.keyboard.press('e')
      await eventually(() => expect(path()).toBe('/event-logs'))
      await page.keyboard.press('g')
      await page.getByLabel('correlationKey').pressSequentially('a/e ..')
      await page.keyboard.press('Enter')
      await eventually(() => expect(page.url()).toBe(`${server.url}/flows/-?key=a/e+..`))
      await page.goBack()
      await eventually(() => expect(path()).toBe('/event-logs'))
      await page.goto(`${server.url}/application-logs?from=now-15m`)
      await page.getByRole('button', { name: 'Last 15 minutes' }).waitFor()
      await page.keyboard.press('e')
      await eventually(() => expect(page.url()).toBe(`${server.url}/event-logs?from=now-15m`))
    })

    test('what one types after the key that opens something is for what it opened', async () => {
      const { page } = await open(server.url, { key: server.key, path: '/team' })
      await page.getByRole('button', { name: 'Demo' }).waitFor()
      const focused = await page.evaluate(`(async () => {
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'g', bubbles: true }))
        // Drawn with what waits for the present script; the next key comes later than that.
        await new Promise((resolve) => queueMicrotask(() => queueMicrotask(resolve)))
        return document.activeElement.getAttribute('aria-label')
      })()`)
      expect(focused).toBe('correlationKey')
    })

    test('what one types in a dialog goes to its first field', async () => {
      const { page } = await open(server.url, { key: server.key, path: '/team' })
      await page.getByRole('button', { name: 'New Event' }).click()
      await page.keyboard.type('order-paid')
      expect(await page.getByRole('dialog', { name: 'New Event' }).getByLabel('Identifier').inputValue()).toBe(
        'order-paid',
      )
    })

    test('Enter does what a dialog without a field asks for, unless that is dangerous', async () => {
      const { page } = await open(server.url, { key: server.key, path: '/team' })
      await page.getByRole('button', { name: 'Replace all' }).press('Enter')
      await page.getByRole('dialog', { name: 'Replace all' }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'New key' }).press('Enter')
      await page.getByRole('dialog', { name: 'New key' }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByText(/^sl_/).waitFor()
    })

    test('a dialog that closes leaves the page where it was', async () => {
      const { page } = await open(server.url, { key: server.key, path: '/team', height: 300 })
      await page.getByRole('button', { name: 'Demo' }).waitFor()
      await page.evaluate(`document.getElementById('main').focus({ preventScroll: true })`)
      // The page is too short to scroll until its lists are there.
      await eventually(async () => expect(await page.evaluate('scrollTo(0, 30), scrollY')).toBe(30))
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
      await page.keyboard.press('Escape')
      await eventually(async () => expect(await page.evaluate('document.activeElement.id')).toBe('main'))
      expect(await page.evaluate('scrollY')).toBe(30)
    })

    test('another page takes the focus, and the first stop of the keyboard leads to the content', async () => {
      const { page } = await open(server.url, { key: server.key, path: '/refused' })
      await page.getByRole('button', { name: 'Demo' }).waitFor()
      await page.keyboard.press('Tab')
      await expect(page.evaluate('document.activeElement.textContent')).resolves.toContain('Skip to the content')
      await page.keyboard.press('Enter')
      await eventually(async () => expect(await page.evaluate('document.activeElement.id')).toBe('main'))
      await page.evaluate('document.activeElement.blur()')
      await tab(page, 'Flows').click()
      await eventually(async () => expect(await page.evaluate('document.activeElement.id')).toBe('main'))
    })
  })

  test('times are in the zone of the reader or in UTC, and the address says which', async () => {
    const { page } = await open(server.url, { key: server.key, path: '/refused' })
    await page.getByRole('button', { name: 'Local +05:30' }).click()
    expect(new URL(page.url()).searchParams.get('utc')).toBe('1')
    await tab(page, 'Flows').click()
    expect(new URL(page.url()).searchParams.get('utc')).toBe('1')
    await page.goto(`${server.url}/team`)
    await page.getByRole('button', { name: 'UTC' }).waitFor()
  })

  test("links to pages of its own need no load, and those with a modifier are the browser's", async () => {
    const { page, context } = await open(server.url, { key: server.key, path: '/refused' })
    await page.evaluate('window.stays = true')
    await tab(page, 'Team').click()
    expect(await page.evaluate('window.stays')).toBe(true)
    const [opened] = await Promise.all([
      context.waitForEvent('page'),
      tab(page, 'Flows').click({ modifiers: ['ControlOrMeta'] }),
    ])
    await opened.waitForURL(/\/flows$/)
    expect(new URL(page.url()).pathname).toBe('/team')
  })

  describe('on plain http, under a name', () => {
    const KEY = 'order-4711'
    let plain: string
    beforeAll(async () => {
      plain = server.url.replace('127.0.0.1', PLAIN_HOST)
      await server.client.post('/api/ExternalLogs', {
        uniqueIdentifier: 'order-placed',
        payload: 'placed',
        level: 'Information',
        correlationKey: KEY,
      })
      await eventually(async () => (await server.client.get(`/api/flows/${KEY}`)).success)
    })

    test('one can sign in, and what is copied can be pasted', async () => {
      const { page } = await open(plain, { path: `/flows/${KEY}` })
      expect(await page.evaluate('isSecureContext')).toBe(false)
      await page.getByLabel('Team key').fill(server.key)
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Copy the correlationKey' }).click()
      await page.keyboard.press('g')
      await page.getByLabel('correlationKey', { exact: true }).press('ControlOrMeta+V')
      await expect(page.getByLabel('correlationKey', { exact: true }).inputValue()).resolves.toBe(KEY)
    })

    test('what cannot be copied at all is shown, ready to be', async () => {
      const { page, axe } = await open(plain, { path: `/flows/${KEY}` })
      await page.getByLabel('Team key').fill(server.key)
      await page.keyboard.press('Enter')
      await page.evaluate('document.execCommand = () => false')
      await page.getByRole('button', { name: 'Copy the correlationKey' }).click()
      const text = page.getByRole('dialog').getByLabel('Text to copy')
      await expect(text.inputValue()).resolves.toBe(KEY)
      expect(await page.evaluate('getSelection().toString() || document.activeElement.value')).toBe(KEY)
      expect(await axe()).toEqual([])
    })
  })

  test('below a base path everything is where it belongs', async () => {
    const below = await serve({ BASE_PATH: '/logs' })
    expect(below.url).toMatch(/\/logs$/)
    const { page, context } = await open(below.url, { key: below.key, path: '' })
    await page.getByRole('button', { name: 'Demo' }).waitFor()
    await page.waitForURL('**/logs/event-logs')
    expect((await context.cookies()).map(({ path }) => path)).toEqual(['/logs'])
    await tab(page, 'Team').click()
    expect(new URL(page.url()).pathname).toBe('/logs/team')
    await page.reload()
    await page.getByRole('button', { name: 'Demo' }).waitFor()
    for (const path of ['/api/team/nothing', '/api/flows/a/b/c']) {
      const refused = await fetch(below.url + path, { headers: { 'x-api-key': below.key } })
      expect([refused.status, await refused.text()]).toEqual([
        404,
        expect.stringContaining('/logs/docs lists all paths'),
      ])
    }
  })

  test('a page that is opened after another one finds nothing of it in the browser', async () => {
    const traces = `(async () => {
      const databases = await indexedDB.databases()
      const { state } = await navigator.permissions.query({ name: 'clipboard-read' })
      return [document.cookie, localStorage.length, sessionStorage.length, databases.length, state]
    })()`
    const first = await open(server.url, { key: server.key })
    await first.context.grantPermissions(['clipboard-read'])
    await first.page.evaluate(`document.cookie = 'a=b', localStorage.a = sessionStorage.a = 'b'`)
    await first.page.evaluate(`new Promise((done) => { indexedDB.open('a').onsuccess = done })`)
    expect(await first.page.evaluate(traces)).toEqual(['a=b', 1, 1, 1, 'granted'])
    // A page that still loads its icons would have faults by the route.
    await first.page.goto('about:blank')
    await first.context.route('**/assets/**', (route) => route.abort())
    await first.close()
    const second = await open(server.url)
    expect(second.context).toBe(first.context)
    expect(second.context.pages()).not.toContain(first.page)
    expect(await second.page.evaluate(traces)).toEqual(['', 0, 0, 0, 'prompt'])
    expect(await second.context.cookies()).toEqual([])
    await second.page.getByLabel('Team key').waitFor()
  })
})
