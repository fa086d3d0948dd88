import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClient, type Envelope, type List } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { startBare } from '../support/raw-http.ts'
import { runSluice, type SluiceProcess, startSluice, temporaryFolder } from '../support/sluice-process.ts'

const run = promisify(execFile)

/** The commands of the banner, each joined to one line. */
const curls = (printed: string): readonly string[] =>
  printed
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('curl '))

async function shell<Data>(command: string): Promise<Envelope<Data>> {
  const { stdout } = await run('bash', ['-c', command])
  return JSON.parse(stdout) as Envelope<Data>
}

describe('the first minute', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let server: SluiceProcess | undefined

  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(async () => {
    server?.kill('SIGTERM')
    await server?.exited
    folder.remove()
  })

  test('a port that is taken is told before a Team is made, so that the next start shows all there is to paste', async () => {
    const other = await startBare(() => {})
    const settings = { DATA_DIR: folder.path, LOG_LEVEL: 'warn' }
    const { code, stdout, stderr } = await runSluice(['start'], { ...settings, PORT: `${other.port}` })
    await other.close()
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('is taken; set PORT to another one')])
    server = await startSluice(settings)
    expect(curls(server.printed())).toHaveLength(2)
  })

  test('the printed curl works when pasted, the entry is read back, and is there once after a kill and a restart', async () => {
    server = await startSluice({ DATA_DIR: folder.path })
    const [send = '', read = ''] = curls(server.printed())
    const key = /X-API-Key: ([^'"\s]+)/.exec(send)?.[1] ?? ''
    const sent = await shell<{ id: string }>(send)
    expect(sent.success).toBe(true)
    await eventually(async () => {
      const list = await shell<List>(read)
      expect(list.data.items.map(({ id }) => id)).toEqual([sent.data.id])
    })

    server.kill('SIGKILL')
    await server.exited
    server = await startSluice({ DATA_DIR: folder.path })
    expect(server.printed()).not.toContain(key)
    const items = await createClient(server.url, key).all('/api/event-logs')
    expect(items.map(({ id }) => id)).toEqual([sent.data.id])
  })
})
