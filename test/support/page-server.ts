import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { globSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from './api.ts'
import { BUSY_KEY, BUSY_REGISTRY, fillBusyTeam } from './busy-team.ts'
import { type SluiceProcess, serverFolder, startSluice, temporaryFolder } from './sluice-process.ts'

/** A Team with an Event and a Project, to which nothing has happened. */
export interface PageTeam {
  /** The page's address, without a trailing slash. */
  readonly url: string
  /** The Team's key. */
  readonly key: string
  readonly client: Client
  /** The identifier of its Event Order placed. */
  readonly identifier: string
}

/** The embedded Sluice with a Team created at its first start, and the built page. */
export interface PageServer extends PageTeam {
  /** Stops the process; its data stays. */
  stop(): Promise<void>
  /** Restarts a stopped server on the same port and data. */
  restart(): Promise<void>
  /** Stops the process and removes its data. */
  close(): Promise<void>
}

export const startPageServer = (settings: Record<string, string> = {}): Promise<PageServer> =>
  start(temporaryFolder(), settings)

/** The same with the Teams of a registry file; `key` is one of theirs. */
export const startWithRegistry = (registry: string, key: string, settings = {}): Promise<PageServer> => {
  const folder = serverFolder(registry)
  return start(folder, { ...folder.settings, ...settings }, key)
}

const TEAMS = Array.from({ length: 12 }, (_, n) => ({
  team: `team-${n}`,
  key: `key-of-team-${n}-0123456789abcdef0123456789`,
  identifier: `order-placed-${n}`,
}))

/** A server of many Teams without Steps; `next` has one that nobody has used. */
export async function startTeamsServer(): Promise<{ next(): PageTeam; close(): Promise<void> }> {
  const registry = {
    teams: TEAMS.map(({ team: id, key }) => ({ id, name: 'Demo', apiKeys: [key] })),
    events: TEAMS.map(({ team, identifier }) => ({ identifier, team, name: 'Order placed' })),
    projects: TEAMS.map(({ team }) => ({ id: randomUUID(), team, name: 'Checkout API' })),
  }
  const { url, close } = await startWithRegistry(JSON.stringify(registry), '')
  const unused = TEAMS.values()
  const next = (): PageTeam => {
    const { value } = unused.next()
    if (value === undefined) throw new Error(`only ${TEAMS.length} tests of a file may ask for a Team`)
    const { key, identifier } = value
    return { url, key, identifier, client: createClient(url, key) }
  }
  return { next, close }
}

/** The same with a Team that was busy during the two days before `now` (milliseconds since 1970). */
export async function startBusyServer(now: number): Promise<PageServer> {
  const server = await startWithRegistry(BUSY_REGISTRY, BUSY_KEY)
  await fillBusyTeam(server.client, now)
  return server
}

async function start(
  folder: ReturnType<typeof temporaryFolder>,
  settings: Record<string, string>,
  givenKey?: string,
): Promise<PageServer> {
  buildPage()
  const startAt = (port: string): Promise<SluiceProcess> =>
    startSluice({ DATA_DIR: folder.path, PORT: port, ...settings })
  let process = await startAt('0')
  const { url } = process
  const key = /shown this once: (\S+)/.exec(process.printed())?.[1] ?? givenKey ?? ''
  const stop = async (): Promise<void> => {
    process.kill('SIGTERM')
    await process.exited
  }
  return {
    url,
    key,
    client: createClient(url, key),
    identifier: 'order-placed',
    stop,
    restart: async () => {
      process = await startAt(new URL(url).port)
    },
    close: async () => {
      await stop()
      folder.remove()
    },
  }
}

const ROOT = join(import.meta.dirname, '../..')
const WEB = join(ROOT, 'views/web')
const SOURCES = [
  'views/web/**/*.{ts,tsx,css,html,svg}',
  // Everything that the page may import.
  '{views,shared}/**/*.ts',
  'package-lock.json',
]

/** The folder of the built page. */
export const DIST = join(WEB, 'dist')

/** Builds the page if a source is newer, so that no test uses an outdated one. */
export function buildPage(): void {
  const builtAt = changedAt(join(DIST, 'index.html'))
  const newest = globSync(SOURCES, { cwd: ROOT })
    .filter((file) => !/^views\/web\/(\.?dist)/.test(file))
    .reduce((latest, file) => Math.max(latest, changedAt(join(ROOT, file))), 0)
  if (newest <= builtAt) return
  // Concurrent test files may each find the page outdated: the existing one stays intact until the new one replaces it.
  const made = join(WEB, `.dist-${process.pid}`)
  const old = join(WEB, `.dist-${process.pid}-old`)
  execFileSync(
    process.execPath,
    [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', WEB, '--outDir', made, '--logLevel', 'error'],
    {
      // The test runner's own NODE_ENV would make it a development build.
      env: { ...process.env, NODE_ENV: 'production' },
    },
  )
  renameIfPossible(DIST, old)
  // Another test file may have replaced it in between.
  renameIfPossible(made, DIST)
  for (const left of [old, made]) rmSync(left, { recursive: true, force: true })
}

/** Renames a folder unless it is gone, or another one has the new name. */
function renameIfPossible(folder: string, name: string): void {
  try {
    renameSync(folder, name)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
  }
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
