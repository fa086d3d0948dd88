import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePorts } from '../stack/ports.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/sluice-process.ts'

const ROOT = join(import.meta.dirname, '../..')
const PATIENCE_MS = 60_000

test(
  'npm run dev: the page with the API behind it; a change begins the server anew; Ctrl-C ends both',
  async () => {
    const folder = temporaryFolder()
    const [port = 0] = await freePorts(1)
    const dev = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'dev.ts'], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], PORT: String(port), DATA_DIR: folder.path, LOG_LEVEL: 'warn' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(dev, 'exit')
    let printed = ''
    let address = ''
    dev.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
    const starts = (): number => printed.split('ready at').length - 1
    try {
      await eventually(() => starts() === 1 && printed.includes('reloads itself'), PATIENCE_MS)
      address = /reloads itself: (\S+)/.exec(printed)?.[1] ?? ''
      expect(await (await fetch(address)).text()).toContain('main.tsx')
      expect((await fetch(new URL('/health/live', address))).status).toBe(200)

      const now = new Date()
      utimesSync(join(ROOT, 'deploy/server/version.ts'), now, now)
      await eventually(() => starts() === 2, PATIENCE_MS)
      expect((await fetch(new URL('/health/live', address))).status).toBe(200)
    } finally {
      dev.kill('SIGINT')
      await eventually(async () => expect(fetch(address)).rejects.toThrow(), PATIENCE_MS)
      // A second Ctrl-C, before the end that the first one began.
      dev.kill('SIGINT')
      expect(await exited).toEqual([0, null])
      folder.remove()
    }
    await expect(fetch(`http://127.0.0.1:${port}/health/live`)).rejects.toThrow()
  },
  2 * PATIENCE_MS,
)
