import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The system's own browser, by CHROMIUM_PATH or from the search path; undefined where there is none. None is ever downloaded. */
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

/** A name for this machine in the browser alone. Pages there may not use the clipboard, and tell no Sec-Fetch-Site. */
export const PLAIN_HOST = 'sluice.test'

/** Starts the browser without a window. */
export const launchChromium = (executablePath: string): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: [
      // A host of plain http, which browsers trust less than localhost.
      `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`,
      // Containers give the shared memory that it would use 64 MiB.
      '--disable-dev-shm-usage',
      // It cannot build its sandbox as root, which is what containers run tests as.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  })
