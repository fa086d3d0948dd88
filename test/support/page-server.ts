import { type Client, createClient } from './api.ts'
import { BUSY_KEY, fillBusyTeam, writeBusyRegistry } from './busy-team.ts'
import { buildPage } from './page-build.ts'
import { type SluiceProcess, startSluice, temporaryFolder } from './sluice-process.ts'

/** The embedded Sluice with a Team made at its first start, and the page built. */
export interface PageServer {
  /** Where the page is, without a slash at its end. */
  readonly url: string
  /** The Team's key. */
  readonly key: string
  readonly client: Client
  /** Ends the process; its data stay. */
  stop(): Promise<void>
  /** Starts a stopped server again, on the same port and data. */
  restart(): Promise<void>
  /** Ends the process and removes its data. */
  close(): Promise<void>
}

export const startPageServer = (settings: Record<string, string> = {}): Promise<PageServer> =>
  start(temporaryFolder(), settings)

/** The same with a Team that has been busy for two days until `now` (milliseconds since 1970). */
export async function startBusyServer(now: number, settings: Record<string, string> = {}): Promise<PageServer> {
  const folder = temporaryFolder()
  const server = await start(folder, { REGISTRY_FILE: writeBusyRegistry(folder.path), ...settings }, BUSY_KEY)
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
