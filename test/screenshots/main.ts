import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { problem } from '../../shared/contract/errors.ts'
import { failureBody } from '../../shared/http/answer.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { createOpener, findChromium, launchChromium, NO_CHROMIUM, type Opener } from '../support/open-page.ts'
import { type PageServer, startBusyServer, startPageServer } from '../support/page-server.ts'
import { DOCUMENTED, SHOTS, type Shot } from './shots.ts'

/**
 * `npm run screenshots [NAME ...]`: pictures of every page into screenshots/, or of those whose names contain one of the words;
 * `light`, `dark`, `wide` and `narrow` are parts of the names. `npm run screenshots docs` takes those of the documentation anew.
 */
const FOLDER = join(import.meta.dirname, '../../screenshots')
const DOCS = join(import.meta.dirname, '../../docs/images')
const SIZES = { wide: [1_440, 900], narrow: [390, 844] } as const

const STORE_AWAY = failureBody(problem('server_error', null, 'The log store could not answer.'))

interface Look {
  readonly name: string
  readonly width: number
  readonly height: number
  readonly dark: boolean
}

const LOOKS: readonly Look[] = Object.entries(SIZES).flatMap(([size, [width, height]]) =>
  [false, true].map((dark) => ({ name: `${size}-${dark ? 'dark' : 'light'}`, width, height, dark })),
)

async function main(words: readonly string[]): Promise<void> {
  const executable = findChromium()
  if (executable === undefined) throw new Error(NO_CHROMIUM)
  const all = SHOTS.flatMap((shot) => LOOKS.map((look) => ({ shot, look, file: `${shot.name}-${look.name}` })))
  const wanted =
    words[0] === 'docs'
      ? all.filter(({ shot, look }) => look.name === 'wide-light' && DOCUMENTED[shot.name] !== undefined)
      : all.filter(({ file }) => words.length === 0 || words.some((word) => file.includes(word)))
  const placeOf = (shot: Shot, file: string) => {
    const [name, height] = (words[0] === 'docs' ? DOCUMENTED[shot.name] : undefined) ?? []
    return { path: join(name === undefined ? FOLDER : DOCS, `${name ?? file}.png`), height }
  }
  if (words.length === 0) rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const servers = { empty: await startPageServer(), busy: await startBusyServer(systemClock.now()) }
  const browser = await launchChromium(executable)
  const open = createOpener(browser)
  try {
    for (const { shot, look, file } of wanted)
      await take(open, shot.state === 'empty' ? servers.empty : servers.busy, shot, look, placeOf(shot, file))
  } finally {
    await browser.close()
    await Promise.all(Object.values(servers).map((server) => server.close()))
  }
  process.stdout.write(`${wanted.length} pictures\n`)
}

async function take(
  open: Opener,
  server: PageServer,
  { path, state, signedIn = true, act }: Shot,
  look: Look,
  place: { readonly path: string; readonly height: number | undefined },
): Promise<void> {
  const { page, faults, close } = await open(server.url, {
    ...look,
    path,
    zone: 'UTC',
    ...(signedIn && { key: server.key }),
  })
  await settled()
  if (state === 'failing') {
    await page.route(/\/api\/(?!session)/, (route) => route.fulfill({ status: 503, body: STORE_AWAY }))
    await page.reload()
    await settled()
  }
  if (state === 'away') await page.route(/\/api\//, (route) => route.abort('connectionrefused'))
  await act?.(page)
  await settled()
  const clip = { x: 0, y: 0, width: look.width, height: place.height ?? look.height }
  await page.screenshot({ path: place.path, clip })
  process.stdout.write(`${place.path}${faults.map((fault) => `\n  ${fault}`).join('')}\n`)
  await close()

  /** Nothing on its way any more; a live page is never quite still, so it is waited for only so long. */
  async function settled(): Promise<void> {
    await page.waitForLoadState('networkidle', { timeout: 2_000 }).catch(() => undefined)
    await page.evaluate('document.fonts.ready')
  }
}

await main(process.argv.slice(2))
