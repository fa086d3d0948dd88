import { type Client, createClient } from './api.ts'
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

export async function startPageServer(settings: Record<string, string> = {}): Promise<PageServer> {
  buildPage()
  const folder = temporaryFolder()
  const start = (port: string): Promise<SluiceProcess> =>
    startSluice({ DATA_DIR: folder.path, PORT: port, ...settings })
  let process = await start('0')
  const { url } = process
  const key = /shown this once: (\S+)/.exec(process.printed())?.[1] ?? ''
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
      process = await start(new URL(url).port)
    },
    close: async () => {
      await stop()
      folder.remove()
    },
  }
}
