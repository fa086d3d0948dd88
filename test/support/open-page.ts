import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'

export interface OpenOptions {
  /** Where to go, below the server's address. */
  readonly path?: string
  /** Signs in before the page is loaded. */
  readonly key?: string
  readonly width?: number
  readonly height?: number
  readonly dark?: boolean
  readonly reducedMotion?: boolean
  /** The zone that the browser is in. */
  readonly zone?: string
}

/** A page in a browser profile of its own. */
export interface OpenPage {
  readonly page: Page
  readonly context: BrowserContext
  /** Acts that no page may do: errors in the console, uncaught errors, requests to other origins. */
  readonly faults: string[]
  /** The findings of axe, one line a place. */
  axe(): Promise<readonly string[]>
  close(): Promise<void>
}

/** The zone of a browser unless a test names one; not UTC, and not a whole hour from it, so that a mix-up of the two shows. */
export const READER_ZONE = 'Asia/Kolkata'

const WIDTH = 1_440
const HEIGHT = 900
/** A page that takes longer for anything does not work. */
const PATIENCE_MS = 30_000

/** Opens the page of the server at `url`. */
export async function openPage(browser: Browser, url: string, options: OpenOptions = {}): Promise<OpenPage> {
  const {
    path = '/',
    key,
    width = WIDTH,
    height = HEIGHT,
    dark = false,
    reducedMotion = false,
    zone = READER_ZONE,
  } = options
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
    timezoneId: zone,
    locale: 'en-GB',
  })
  context.setDefaultTimeout(PATIENCE_MS)
  const { origin } = new URL(url)
  if (key !== undefined) await signIn(context, url, key)
  const faults: string[] = []
  // Of every page of the profile, so of those as well that a test or the page itself opens.
  context.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()} (${message.location().url})`)
  })
  context.on('weberror', (fault) => {
    const error = fault.error()
    faults.push(`uncaught: ${error.stack ?? error.message}`)
  })
  context.on('request', (request) => {
    const asked = new URL(request.url())
    if (/^(https?|wss?):$/.test(asked.protocol) && asked.origin !== origin)
      faults.push(`request elsewhere: ${asked.href}`)
  })
  const page = await context.newPage()
  await page.goto(url + path)
  return { page, context, faults, axe: () => runAxe(page), close: () => context.close() }
}

/** Signs in as the form does, without the form. */
export async function signIn(context: BrowserContext, url: string, key: string): Promise<void> {
  const answer = await context.request.post(`${url}/api/session`, {
    data: { apiKey: key },
    headers: { origin: new URL(url).origin },
  })
  if (!answer.ok()) throw new Error(`signing in was answered ${answer.status()}: ${await answer.text()}`)
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResults {
  readonly violations: readonly {
    readonly id: string
    readonly help: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
  }[]
}

/** Run from outside of the page, whose policy would not let it in. */
async function runAxe(page: Page): Promise<readonly string[]> {
  // Elements that fade in have their final colours afterwards only; endless animations are not waited for.
  await page.evaluate(
    'Promise.all(document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < Infinity).map((each) => each.finished.catch(() => undefined)))',
  )
  await page.evaluate(AXE)
  const { violations } = await page.evaluate<AxeResults>('axe.run(document, { resultTypes: ["violations"] })')
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)}: ${failureSummary}`),
  )
}
