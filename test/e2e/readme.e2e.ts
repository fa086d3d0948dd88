import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { type SluiceProcess, startSluice, temporaryFolder } from '../support/sluice-process.ts'

const run = promisify(execFile)
const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')

/** The examples of the README in one language. */
const examples = (language: string): readonly string[] =>
  [...README.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(([, code = '']) => code)

describe('the examples of the README, run as they stand', () => {
  const folder = temporaryFolder()
  let server: SluiceProcess
  let env: NodeJS.ProcessEnv

  beforeAll(async () => {
    server = await startSluice({ DATA_DIR: join(folder.path, 'data') })
    const KEY = /Its key, shown this once: (\S+)/.exec(server.printed())?.[1] ?? ''
    const PROJECT = /with the Project (\S+)\./.exec(server.printed())?.[1] ?? ''
    env = { PATH: process.env['PATH'], BASE_URL: server.url, KEY, PROJECT }
  })

  afterAll(async () => {
    server.kill('SIGTERM')
    await server.exited
    folder.remove()
  })

  test('curl sends an event log and reads it back', async () => {
    const [send = '', read = ''] = examples('sh').filter((code) => code.includes('curl'))
    const sent = await run('bash', ['-c', send], { env })
    const { data } = JSON.parse(sent.stdout) as { data: { id: string } }
    await eventually(async () => {
      const { stdout } = await run('bash', ['-c', read], { env })
      expect(stdout.split(data.id)).toHaveLength(3)
    })
  })

  test('TypeScript sends an application log', async () => {
    const file = join(folder.path, 'send.ts')
    writeFileSync(file, examples('ts')[0] ?? '')
    const { stdout } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', file], { env })
    const id = stdout.trim()
    await eventually(async () => {
      const answer = await createClient(server.url, env['KEY'] ?? '').get(`/api/application-logs/${id}`)
      expect(answer.success).toBe(true)
    })
  })

  test('Python sends a batch', async ({ skip }) => {
    if ((await run('python3', ['--version']).catch(() => null)) === null) {
      process.stderr.write('\nNOT PROVED, no python3: the Python example of the README\n')
      skip('no python3')
    }
    const { stdout } = await run('python3', ['-c', examples('python')[0] ?? ''], { env })
    expect(stdout.trim()).toBe('3')
  })
})
