import { accessSync, constants, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import type {
  BrowserContext,
  BrowserContextOptions,
  CDPSession,
  ConsoleMessage,
  Page,
  Request,
  WebError,
} from 'playwright-core'
import { type Browser, chromium } from 'playwright-core'

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
  /** Runs before the page is loaded: for routes, and scripts that come before its own. */
  prepare?(page: Page): Promise<unknown>
}

/** A page in its own browser profile. */
export interface OpenPage {
  readonly page: Page
  readonly context: BrowserContext
  /** Violations: errors in the console, uncaught errors, requests to other origins. */
  readonly faults: string[]
  /** axe's findings, one line per element, in the light and in the dark theme. */
  axe(): Promise<readonly string[]>
  /** Closes all pages of the profile, which a page that is opened later is given empty. Idempotent. */
  close(): Promise<void>
}

/** The browser's default time zone: not UTC, nor a whole hour from it, so that mix-ups are noticed. */
export const READER_ZONE = 'Asia/Kolkata'

const WIDTH = 1_440
const HEIGHT = 900
/** The timeout for anything in the page. */
const PATIENCE_MS = 30_000

/** A browser profile, which is handed on from one opened page to a later one. */
interface Profile {
  readonly context: BrowserContext
  /** Keeps the profile's process alive: a page in a process that has to be started costs twice the CPU. */
  readonly blank: Page
  readonly devtools: CDPSession
}

/** Opens the page of the server at an address. */
export type Opener = (url: string, options?: OpenOptions) => Promise<OpenPage>

/** Each page that it opens has a profile without the traces of others, and gives it back when it is closed. */
export function createOpener(browser: Browser): Opener {
  const idle = new Map<string, Profile[]>()
  return async (url, options = {}) => {
    const {
      path = '/',
      key,
      width = WIDTH,
      height = HEIGHT,
      dark = false,
      reducedMotion = false,
      zone = READER_ZONE,
      prepare,
    } = options
    const settings = {
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
      timezoneId: zone,
      locale: 'en-GB',
    } as const
    const kind = JSON.stringify(settings)
    const profiles = idle.get(kind) ?? []
    idle.set(kind, profiles)
    const profile = profiles.pop() ?? (await createProfile(browser, settings))
    const { context } = profile
    if (key !== undefined) await signIn(context, url, key)
    const { faults, stop } = faultsOf(context, new URL(url).origin)
    const page = await context.newPage()
    await prepare?.(page)
    await page.goto(url + path)
    const giveBack = async (): Promise<void> => {
      await clear(profile)
      stop()
      profiles.push(profile)
    }
    let closed: Promise<void> | undefined
    const close = (): Promise<void> => {
      closed ??= giveBack()
      return closed
    }
    return { page, context, faults, axe: () => runAxe(page, dark), close }
  }
}

async function createProfile(browser: Browser, settings: BrowserContextOptions): Promise<Profile> {
  const context = await browser.newContext(settings)
  context.setDefaultTimeout(PATIENCE_MS)
  const blank = await context.newPage()
  return { context, blank, devtools: await context.newCDPSession(blank) }
}

/** Closes the pages, and removes all that pages store and the routes of tests. The cache of files stays. */
async function clear({ context, blank, devtools }: Profile): Promise<void> {
  await Promise.all(context.pages().map((page) => page !== blank && page.close()))
  await context.unrouteAll()
  await context.clearCookies()
  await context.clearPermissions()
  await devtools.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' })
}

/** Notes the violations of every page of a profile, including those opened by a test or by the page itself. */
function faultsOf(context: BrowserContext, origin: string): { readonly faults: string[]; stop(): void } {
  const faults: string[] = []
  const onConsole = (message: ConsoleMessage): void => {
    if (message.type() === 'error') faults.push(`console: ${message.text()} (${message.location().url})`)
  }
  const onError = (fault: WebError): void => {
    const error = fault.error()
    faults.push(`uncaught: ${error.stack ?? error.message}`)
  }
  const onRequest = (request: Request): void => {
    const asked = new URL(request.url())
    if (/^(https?|wss?):$/.test(asked.protocol) && asked.origin !== origin)
      faults.push(`request elsewhere: ${asked.href}`)
  }
  context.on('console', onConsole).on('weberror', onError).on('request', onRequest)
  return {
    faults,
    stop: () => void context.off('console', onConsole).off('weberror', onError).off('request', onRequest),
  }
}

/** Signs in like the form, but without using it. */
async function signIn(context: BrowserContext, url: string, key: string): Promise<void> {
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
async function runAxe(page: Page, dark: boolean): Promise<readonly string[]> {
  await page.evaluate(AXE)
  const findings = async (rules: object): Promise<readonly string[]> => {
    // Elements have their final colours only after fading in; endless animations are not awaited.
    await page.evaluate(
      'Promise.all(document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < Infinity).map((each) => each.finished.catch(() => undefined)))',
    )
    // Without the selectors of every element that it looked at, which take a fifth of its time.
    const options = JSON.stringify({ resultTypes: ['violations'], selectors: false, ...rules })
    const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${options})`)
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${help}: ${html.slice(0, 200)}: ${failureSummary}`),
    )
  }
  const found = await findings({})
  // The themes differ in their colours only.
  const [own, other] = dark ? (['dark', 'light'] as const) : (['light', 'dark'] as const)
  await page.emulateMedia({ colorScheme: other })
  const foundInOther = await findings({ runOnly: ['color-contrast'] })
  await page.emulateMedia({ colorScheme: own })
  return [...found, ...foundInOther.map((finding) => `${other}: ${finding}`)]
}

/** The same engine without windows, a package of some distributions, needs two thirds of the browser's CPU time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The reason if none of them is found. */
export const NO_CHROMIUM = 'no chromium, chromium-browser or google-chrome on the path'

/** The system's own browser, from CHROMIUM_PATH or the search path; undefined if there is none. No browser is downloaded. */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const candidates = [
    process.env['CHROMIUM_PATH'] ?? '',
    ...NAMES.flatMap((name) => folders.map((at) => join(at, name))),
  ]
  return candidates.filter((path) => path !== '').find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** A name for this machine that only the browser knows. Pages there cannot use the clipboard, and send no Sec-Fetch-Site. */
export const PLAIN_HOST = 'sluice.test'

/** A page of a test lives for seconds, in which optimised code costs more than it saves: a fifth of the renderer's CPU time. */
export const FOR_SECONDS = '--js-flags=--no-maglev --no-turbofan'

/** Starts a headless browser, with more flags if there are any. */
export const launchChromium = (executablePath: string, ...flags: readonly string[]): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: [
      // A plain http host, which browsers trust less than localhost.
      `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`,
      // Containers limit the shared memory that it would use to 64 MiB.
      '--disable-dev-shm-usage',
      // Its sandbox does not work as root, the usual user of tests in containers.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      ...flags,
    ],
  })
