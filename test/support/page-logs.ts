import type { Locator, Page } from 'playwright-core'
import { problem } from '../../shared/contract/errors.ts'
import { failureBody } from '../../shared/http/answer.ts'
import { accepted, type Client } from './api.ts'
import { eventually } from './eventually.ts'
import { type PageServer, startWithRegistry } from './page-server.ts'

export const LOGS_KEY = 'logs_9f8bc1d2a3b4c5d6e7f8091a2b3c4d5e'
/** The key of a Team without any logs. */
export const QUIET_KEY = 'quiet_9f8bc1d2a3b4c5d6e7f8091a2b3c4d5e'
export const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'

const REGISTRY = `
teams:
  - { id: shop, name: Shop, apiKeys: ["${LOGS_KEY}"] }
  - { id: quiet, name: Quiet, apiKeys: ["${QUIET_KEY}"] }
events:
  - { identifier: order-placed, team: shop, name: Order placed }
  - { identifier: still, team: quiet, name: Still }
steps:
  - { identifier: order-placed.validate, team: shop, event: order-placed, name: Validate, order: 1 }
  - { identifier: order-placed.charge, team: shop, event: order-placed, name: Charge, order: 2 }
  - { identifier: order-placed.ship, team: shop, event: order-placed, name: Ship, order: 3 }
  - { identifier: probe, team: shop, name: Probe }
projects:
  - { id: ${PROJECT}, team: shop, name: Checkout API }
`

export interface LogsServer extends PageServer {
  /** Uses the key of the Team that has the logs. */
  readonly client: Client
  event(fields?: Record<string, unknown>): Promise<string>
  application(fields?: Record<string, unknown>): Promise<string>
  /** Sends application logs in list order, a hundred per request. */
  applications(list: readonly Record<string, unknown>[]): Promise<void>
  /** Waits until this many entries of the kind are readable. */
  total(kind: 'event' | 'application', count: number): Promise<void>
}

/** The embedded Sluice, optionally with more settings, and a Team whose logs each test sends. */
export async function startLogsServer(settings: Record<string, string> = {}): Promise<LogsServer> {
  const server = await startWithRegistry(REGISTRY, LOGS_KEY, settings)
  const { client } = server
  const post = (path: string, body: unknown): Promise<string> => accepted(client, path, body)
  return {
    ...server,
    event: (fields) =>
      post('/api/ExternalLogs', { uniqueIdentifier: 'order-placed', payload: 'paid', level: 'Information', ...fields }),
    application: (fields) => post('/api/ApplicationLogs', { uniqueIdentifier: PROJECT, ...entry, ...fields }),
    applications: async (list) => {
      for (let at = 0; at < list.length; at += 100) {
        const logEntries = list.slice(at, at + 100).map((fields) => ({ ...entry, ...fields }))
        await post('/api/ApplicationLogs/batch', { uniqueIdentifier: PROJECT, logEntries })
      }
    },
    total: (kind, count) => untilTotal(client, kind, count),
  }
}

/** The answer of a server whose log store is away, for a route of a page. */
export const STORE_AWAY = {
  status: 503,
  body: failureBody(problem('server_error', null, 'The log store could not answer.')),
}

/** How long accepted logs may take to become readable, or visible on the page. */
export const SHOWN_MS = 30_000

/** Waits until this many logs that match the query are readable. */
export const untilTotal = (client: Client, kind: 'event' | 'application', count: number, query = ''): Promise<void> =>
  eventually(async () => {
    const path = `/api/${kind}-logs/histogram?buckets=1&q=${encodeURIComponent(query)}`
    const { data } = await client.get<{ total: number }>(path)
    if (data.total !== count) throw new Error(`${data.total} of ${count} can be read`)
  }, SHOWN_MS)

const entry = { categoryName: 'Acme.Shop.Cart', message: 'checked out', level: 'Information' }

/** Maximum number of rows drawn at once in a window of 900 pixels. */
export const DRAWN_MAX = 110

/** The drawn rows: their positions in the whole list, from 0, and their ids. */
export const drawnRows = (page: Page): Promise<readonly (readonly [place: number, id: string])[]> =>
  page.evaluate(
    '[...document.querySelectorAll("tr.log")].map((row) => [Number(row.getAttribute("aria-rowindex")) - 2, row.dataset.id])',
  )

/** Scrolls down a list until `count` logs were seen; checks that each is at its position, and that not too many are drawn. */
export async function readDown(page: Page, all: readonly string[], count = all.length): Promise<void> {
  const seen = new Set<string>()
  await eventually(async () => {
    const rows = await drawnRows(page)
    if (rows.length > DRAWN_MAX) throw new Error(`${rows.length} rows are drawn`)
    for (const [place, id] of rows) {
      if (all[place] !== id) throw new Error(`${id} is no. ${place} of the list`)
      seen.add(id)
    }
    if (seen.size >= count) return true
    await page.evaluate('scrollBy(0, 700)')
    return false
  }, 40_000)
}

/** The ids of the drawn rows, from the top. */
export const rowIds = (page: Page): Promise<readonly string[]> =>
  page.evaluate('[...document.querySelectorAll("tr.log")].map((row) => row.dataset.id)')

/** The texts of the rows, from the top. */
export const rowTexts = (page: Page): Promise<readonly string[]> =>
  page.evaluate('[...document.querySelectorAll("tr.log .text")].map((cell) => cell.textContent)')

/** Waits until the rows have these texts. */
export const expectRows = (page: Page, texts: readonly string[]): Promise<void> =>
  eventually(async () => {
    const shown = await rowTexts(page)
    if (JSON.stringify(shown) !== JSON.stringify(texts)) throw new Error(`the rows are ${JSON.stringify(shown)}`)
  })

/**
 * Types into the search box and waits for the completions, after which a page that is not live sends no further requests. Returns the box;
 * the search is not submitted.
 */
export async function typeSearch(page: Page, text: string): Promise<Locator> {
  const search = page.getByRole('combobox', { name: 'Search' })
  const completed = page.waitForResponse((response) => new URL(response.url()).pathname.endsWith('/completion'))
  await search.fill(text)
  await completed
  return search
}

/** Signs in with a Team key in the dialog that appears when the session is over, and waits until it is gone. */
export async function signInAgain(page: Page, key: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Your session is over' })
  await dialog.getByLabel('Team key').fill(key)
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
}

export const paramsOf = (page: Page): Record<string, string> => Object.fromEntries(new URL(page.url()).searchParams)

/** The last copied text. */
export const copied = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()')

/** Pixels by which the page overflows horizontally; should be 0. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
