import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient, type Item } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { type SluiceProcess, startSluice, temporaryFolder } from '../support/sluice-process.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const PACKAGE = join(ROOT, 'clients/typescript')
const EXAMPLES = [...readFileSync(join(PACKAGE, 'README.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(
  ([, code = '']) => code,
)

/** The packages beside the client in an application, with the types of Node that they need. */
const INSTALLED = ['pino', 'winston', 'winston-transport', 'logform', 'triple-beam', '@types', 'undici-types']

describe('the TypeScript client, packed and installed', () => {
  const folder = temporaryFolder()
  const modules = join(folder.path, 'node_modules')
  let server: SluiceProcess
  let env: NodeJS.ProcessEnv
  let key: string

  beforeAll(async () => {
    mkdirSync(join(modules, 'sluice-client'), { recursive: true })
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder.path], { cwd: PACKAGE })
    const file = join(folder.path, stdout.trim())
    await run('tar', ['xzf', file, '-C', join(modules, 'sluice-client'), '--strip-components=1'])
    for (const name of INSTALLED) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
    server = await startSluice({ DATA_DIR: join(folder.path, 'data') })
    key = /Its key, shown this once: (\S+)/.exec(server.printed())?.[1] ?? ''
    const PROJECT = /with the Project (\S+)\./.exec(server.printed())?.[1] ?? ''
    env = { PATH: process.env['PATH'], BASE_URL: server.url, KEY: key, PROJECT }
  })

  afterAll(async () => {
    server.kill('SIGTERM')
    await server.exited
    folder.remove()
  })

  /** Runs an example of the README as a program, to its own end. */
  const runExample = (containing: string): Promise<string> =>
    runProgram(EXAMPLES.find((code) => code.includes(containing)) ?? '')

  async function runProgram(code: string): Promise<string> {
    const file = join(folder.path, 'example.mts')
    writeFileSync(file, code)
    const { stdout, stderr } = await run(process.execPath, ['--disable-warning=ExperimentalWarning', file], { env })
    return stdout + stderr
  }

  const shown = (query: string, count: number): Promise<readonly Item[]> =>
    eventually(async () => {
      const items = await createClient(server.url, key).all(`/api/application-logs?order=asc&${query}`)
      expect(items).toHaveLength(count)
      return items
    })

  test('the example sends application logs and an event log', async () => {
    expect(await runExample('createClient({')).toBe('')
    expect(await shown('category=Shop.Checkout', 2)).toMatchObject([
      { message: 'Payment accepted', level: 'Information', environment: 'Production', correlationKey: 'order-4711' },
      { message: 'Payment failed', level: 'Error', exception: expect.stringMatching(/^Error: declined\n {4}at /) },
    ])
    await eventually(async () => {
      const events = await createClient(server.url, key).all('/api/event-logs?correlationKey=order-4711')
      expect(events).toMatchObject([{ payload: '{"order":4711}', event: { identifier: 'order-placed' } }])
    })
  })

  test('pino sends through its thread what is logged right before the process ends', async () => {
    expect(await runExample('pino.transport')).toBe('')
    expect(await shown('category=shop&q=scope.hostname:*', 1)).toMatchObject([
      {
        message: 'payment failed',
        level: 'Error',
        exception: expect.stringMatching(/^Error: declined\n {4}at /),
        scopeData: { pid: expect.any(Number), hostname: expect.any(String) },
      },
    ])
  })

  test('the thread of pino says at the end of the process what was dropped', async () => {
    const said = await runProgram(`import { pino } from 'pino'
const options = { url: 'http://127.0.0.1:9', apiKey: 'key', closeTimeoutMs: 100 }
pino(pino.transport({ target: 'sluice-client/pino', options })).info('lost')
`)
    expect(said).toMatch(/^sluice-client: dropped 1 \(closed\): .*\n$/)
  })

  test('what the thread of pino has flushed is stored, also when the process is killed right after', async () => {
    const program = `import { pino } from 'pino'
const { BASE_URL: url, KEY: apiKey, PROJECT: project } = process.env
const logger = pino({ name: 'flushed' }, pino.transport({ target: 'sluice-client/pino', options: { url, apiKey, project } }))
logger.info('stored')
logger.flush(() => process.kill(process.pid, 'SIGKILL'))
`
    await expect(runProgram(program)).rejects.toMatchObject({ signal: 'SIGKILL' })
    await shown('category=flushed', 1)
  })

  test('winston sends what is logged right before the process ends', async () => {
    expect(await runExample('SluiceTransport')).toBe('')
    expect(await shown('category=shop&q=scope.service:shop', 1)).toMatchObject([
      {
        message: 'payment failed',
        level: 'Error',
        exception: expect.stringMatching(/^Error: declined\n {4}at /),
        scopeData: { service: 'shop' },
      },
    ])
  })

  test('the examples are valid TypeScript, and a level that does not exist is not', async () => {
    const wrong = `import { createClient } from 'sluice-client'
// @ts-expect-error the level
createClient({ url: '', apiKey: '' }).log({ categoryName: 'c', message: 'm', level: 'notice' })
`
    const files = [...EXAMPLES, wrong].map((code, index) => {
      const file = join(folder.path, `typed-${index}.mts`)
      writeFileSync(file, code)
      return file
    })
    expect(files).toHaveLength(4)
    const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--types', 'node']
    await run(join(ROOT, 'node_modules/.bin/tsc'), [...strict, ...files], { cwd: folder.path })
  })
})
