import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

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
