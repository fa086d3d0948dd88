import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'

export interface OpenOptions {
  /** The path below the server's address. */
  readonly path?: string
  /** Signs in with this key before the page is loaded. */
  readonly key?: string
  readonly width?: number
  readonly height?: number
  readonly dark?: boolean
  readonly reducedMotion?: boolean
  /** The browser's time zone. */
  readonly zone?: string
}

/** A page in its own browser profile. */
export interface OpenPage {
  readonly page: Page
  readonly context: BrowserContext
  /** Violations: errors in the console, uncaught errors, requests to other origins. */
  readonly faults: string[]
  /** axe's findings, one line per element. */
  axe(): Promise<readonly string[]>
  close(): Promise<void>
}

/** The browser's default time zone: not UTC, nor a whole hour from it, so that mix-ups are noticed. */
export const READER_ZONE = 'Asia/Kolkata'

const WIDTH = 1_440
const HEIGHT = 900
/** The timeout for anything in the page. */
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
  // For every page of the profile, including those opened by a test or by the page itself.
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

/** Signs in like the form, but without using it. */
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

/** Runs from outside the page, whose content security policy would block it. */
async function runAxe(page: Page): Promise<readonly string[]> {
  // Elements have their final colours only after fading in; endless animations are not awaited.
  await page.evaluate(
    'Promise.all(document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < Infinity).map((each) => each.finished.catch(() => undefined)))',
  )
  await page.evaluate(AXE)
  const { violations } = await page.evaluate<AxeResults>('axe.run(document, { resultTypes: ["violations"] })')
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)}: ${failureSummary}`),
  )
}
