import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import {
  createOpener,
  FOR_SECONDS,
  findChromium,
  launchChromium,
  NO_CHROMIUM,
  type Opener,
  type OpenOptions,
  type OpenPage,
} from './open-page.ts'
import { type PageServer, type PageTeam, startPageServer, startTeamsServer } from './page-server.ts'
import { notProved, REQUIRED } from './toolchains.ts'

export interface Browse {
  /** Opens the page on a server; it is closed after the test. */
  open(url: string, options?: OpenOptions): Promise<OpenPage>
  /** A Team that the test has for itself, on an embedded Sluice that the tests of the file share. */
  team(): Promise<PageTeam>
  /** Starts an embedded Sluice for the test; it is stopped afterwards. */
  serve(settings?: Record<string, string>): Promise<PageServer>
  /** Allows faults of this kind: a stopped server, for example, leaves errors in the console. */
  tolerate(pattern: RegExp): void
}

/**
 * A `describe` whose tests need a browser. A test fails if one of its pages had a fault that it did not tolerate. If no Chromium is
 * installed, the tests are skipped with a line that says what was not proved; with REQUIRE_BACKENDS=1 they fail.
 */
export function describeWithBrowser(name: string, body: (browse: Browse) => void): void {
  const executable = findChromium()
  if (executable !== undefined) {
    describe(name, () => body(browserFor(executable)))
    return
  }
  notProved(name, NO_CHROMIUM, REQUIRED, 'no browser')
}

/** Chromium breaks off its requests when the machine's networks change, as they do when a container starts or stops beside it. */
const NETWORK_CHANGED = /ERR_NETWORK_CHANGED/

function browserFor(executable: string): Browse {
  let browser: Browser
  let openPage: Opener
  let opened: OpenPage[] = []
  let servers: PageServer[] = []
  let teams: ReturnType<typeof startTeamsServer> | undefined
  let tolerated: RegExp[] = [NETWORK_CHANGED]
  beforeAll(async () => {
    browser = await launchChromium(executable, FOR_SECONDS)
    openPage = createOpener(browser)
  })
  afterEach(async () => {
    const faults = opened.flatMap((one) => one.faults).filter((fault) => !tolerated.some((kind) => kind.test(fault)))
    await Promise.all(opened.map((one) => one.close()))
    await Promise.all(servers.map((one) => one.close()))
    opened = []
    servers = []
    tolerated = [NETWORK_CHANGED]
    expect(faults).toEqual([])
  })
  afterAll(async () => {
    await browser.close()
    await (await teams)?.close()
  })
  return {
    open: async (url, options) => {
      const page = await openPage(url, options)
      opened.push(page)
      return page
    },
    team: async () => {
      teams ??= startTeamsServer()
      return (await teams).next()
    },
    serve: async (settings) => {
      const server = await startPageServer(settings)
      servers.push(server)
      return server
    },
    tolerate: (pattern) => void tolerated.push(pattern),
  }
}
