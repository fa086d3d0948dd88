import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../support/api.ts'
import { runHere } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { runSluice, type SluiceProcess, serverFolder, startSluice, temporaryFolder } from '../support/sluice-process.ts'

const KEY = 'operation-key-0123456789abcdef0123456789'
const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const REGISTRY = `teams: [{ id: ops, name: Ops, apiKeys: ["${KEY}"] }]
events: [{ identifier: started, team: ops, name: Started }]
projects: [{ id: ${PROJECT}, team: ops, name: Api }]
`
const EVENT = { uniqueIdentifier: 'started', payload: 'hello', level: 'Information' }

describe('a running server', () => {
  const { settings, ...folder } = serverFolder(REGISTRY)
  let server: SluiceProcess

  beforeAll(async () => {
    server = await startSluice(settings)
  })

  afterAll(async () => {
    server.kill('SIGKILL')
    await server.exited
    folder.remove()
  })

  test('a second server on the same DATA_DIR is refused with a clear message', async () => {
    const second = await runSluice(['start'], { ...settings, PORT: '0' })
    expect(second.code).toBe(1)
    expect(second.stderr).toContain(`another sluice server is running on DATA_DIR=${settings.DATA_DIR}`)
    expect(second.stderr).not.toContain('    at ')
  })

  test('a key rotated by the command beside it opens the running server within seconds, and so does the old one', async () => {
    const rotated = await runSluice(['registry', 'rotate-key', 'ops'], settings)
    expect(rotated.stderr).toBe('')
    expect(rotated.code).toBe(0)
    const key = /[A-Za-z0-9_-]{22,}/.exec(rotated.stdout)?.[0] ?? ''
    await eventually(async () => {
      const answer = await createClient(server.url, key).post('/api/ExternalLogs', EVENT)
      expect(answer).toMatchObject({ success: true })
    })
    expect(await createClient(server.url, KEY).post('/api/ExternalLogs', EVENT)).toMatchObject({ success: true })
  })

  test('the registry is listed beside it', async () => {
    const listed = await runSluice(['registry', 'list'], settings)
    expect(listed.stdout).toContain('started')
    expect(listed.stdout).not.toContain(KEY)
  })

  test('indices apply says that the embedded log store has none', async () => {
    expect(await runSluice(['indices', 'apply'], settings)).toMatchObject({
      code: 0,
      stdout: 'the embedded log store has no indices; for those of Elasticsearch, set ELASTICSEARCH_URL\n',
    })
  })

  test('live and ready tell the truth', async () => {
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200)
    const ready = await fetch(`${server.url}/health/ready`)
    expect(ready.status).toBe(200)
    expect(await ready.json()).toMatchObject({ ready: true })
  })

  test('ready names the log store while it cannot be written, and entries are still taken', async () => {
    const other = new DatabaseSync(join(settings.DATA_DIR, 'logs.db'))
    const readiness = async () => {
      const answer = await fetch(`${server.url}/health/ready`)
      const { parts } = (await answer.json()) as { parts: { name: string; ready: boolean }[] }
      return { status: answer.status, failing: parts.filter(({ ready }) => !ready).map(({ name }) => name) }
    }
    other.exec('BEGIN IMMEDIATE')
    expect(await createClient(server.url, KEY).post('/api/ExternalLogs', EVENT)).toMatchObject({ success: true })
    await eventually(async () => expect(await readiness()).toEqual({ status: 503, failing: ['log-store writes'] }))
    other.close()
    await eventually(async () => expect(await readiness()).toEqual({ status: 200, failing: [] }))
  })

  test('metrics of every part are served, those of the consumers too', async () => {
    await createClient(server.url, KEY).post('/api/ExternalLogs', EVENT)
    await eventually(async () => {
      const text = await (await fetch(`${server.url}/metrics`)).text()
      expect(text).toMatch(/^sluice_entries_accepted_total\{kind="event"\} [1-9]/m)
      expect(text).toMatch(/^sluice_consumer_records_total\{view="event-logs",outcome="stored"\} [1-9]/m)
      expect(text).toMatch(/^process_cpu_seconds_total /m)
      expect(text).toMatch(/^sluice_build_info\{version="\d[^"]*",role="all"\} 1$/m)
      expect(text).toMatch(
        /^sluice_http_request_seconds_count\{route="\/api\/ExternalLogs",status_class="2xx"\} [1-9]/m,
      )
      expect(text).toMatch(/^sluice_consumer_assigned_partitions\{view="flows"\} 2$/m)
      expect(text).toMatch(/^sluice_retention_last_success_timestamp_seconds [1-9]/m)
    })
  })
})

describe('a server that cannot start', () => {
  test('lists every problem of its configuration at once and exits with 1', async () => {
    const { code, stderr } = await runSluice(['start'], { PORT: '99999', LOG_LEVEL: 'loud', SLUICE_PORT: '1' })
    expect(code).toBe(1)
    for (const name of ['PORT must be', 'LOG_LEVEL must be', 'SLUICE_PORT is not a setting'])
      expect(stderr).toContain(name)
  })

  test.each<[string[], Record<string, string>]>([
    [['registry', 'apply', '/dev/zero'], {}],
    [['start'], { REGISTRY_FILE: '/dev/zero' }],
    [['start'], { SESSION_SECRET_FILE: '/dev/zero' }],
  ])('%j, %j: refuses a file without an end at once', async (args, settings) => {
    const folder = temporaryFolder()
    const { code, stderr } = await runSluice(args, { DATA_DIR: folder.path, PORT: '0', ...settings })
    folder.remove()
    expect([code, stderr]).toEqual([1, expect.stringContaining('more than 256 MiB')])
  })

  test('names a file of the log store that it cannot read before it asks a broker', async () => {
    const servers = {
      KAFKA_BROKERS: '127.0.0.1:1',
      ELASTICSEARCH_URL: 'https://127.0.0.1:1',
      SESSION_SECRET: 's'.repeat(40),
    }
    const { code, stderr } = await runSluice(['start'], { ...servers, ELASTICSEARCH_CA_FILE: '/nowhere' })
    expect([code, stderr]).toEqual([1, expect.stringContaining('ELASTICSEARCH_CA_FILE cannot be read')])
  })

  test('names what is wrong in its registry file and exits with 1', async () => {
    const folder = temporaryFolder()
    const file = join(folder.path, 'registry.yaml')
    writeFileSync(file, 'projects: [{ id: nonsense, team: nobody, name: X }]')
    const { code, stderr } = await runSluice(['start'], { DATA_DIR: folder.path, REGISTRY_FILE: file, PORT: '0' })
    folder.remove()
    expect(code).toBe(1)
    expect(stderr).toContain('line 1: id must be a GUID')
  })

  test('shows the key of the Team that it made, as the next start makes no other', async () => {
    const folder = temporaryFolder()
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const settings = { DATA_DIR: folder.path, PORT: '0', METRICS_PORT: String(port) }
    const { code, stdout, stderr } = await runSluice(['start'], settings)
    taken.close()
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`port ${port} on 127.0.0.1 is taken`) })
    const key = /Its key, shown this once: (\S+)/.exec(stdout)?.[1] ?? ''
    const server = await startSluice({ DATA_DIR: folder.path })
    const listed = await createClient(server.url, key).get('/api/event-logs')
    server.kill('SIGTERM')
    await server.exited
    folder.remove()
    expect(listed).toMatchObject({ success: true })
  })

  test('names DATA_DIR and the user where the folder cannot be used', async () => {
    const folder = temporaryFolder()
    const file = join(folder.path, 'file')
    writeFileSync(file, '')
    const { stderr } = await runSluice(['start'], { DATA_DIR: file, PORT: '0' })
    folder.remove()
    expect(stderr).toMatch(/^sluice start: DATA_DIR=\S+ cannot be used \(EEXIST: .*; it must be a folder that .*user/)
  })

  test('tells of a variable that is nearly named as a setting', async () => {
    const folder = temporaryFolder()
    const settings = { DATA_DIR: folder.path, HOST: 'nowhere.invalid', KAFKA_BROKER: 'kafka:9092' }
    const { stdout } = await runSluice(['start'], settings)
    folder.remove()
    expect(stdout).toContain('"name":"KAFKA_BROKER","meant":"KAFKA_BROKERS"')
  })

  test('says that a role of its own needs servers to share', async () => {
    const folder = temporaryFolder()
    const { code, stderr } = await runSluice(['start', '--role', 'gateway'], { DATA_DIR: folder.path, PORT: '0' })
    folder.remove()
    expect(code).not.toBe(0)
    expect(stderr).toContain('KAFKA_BROKERS')
  })
})

describe('a command on a folder without data', () => {
  test.each([
    ['registry list', 'journal.db', 'KAFKA_BROKERS'],
    ['registry export -', 'journal.db', 'KAFKA_BROKERS'],
    ['registry rotate-key ops', 'journal.db', 'KAFKA_BROKERS'],
    ['registry restore /dev/null --dry-run', 'journal.db', 'KAFKA_BROKERS'],
    ['audit', 'journal.db', 'KAFKA_BROKERS'],
    ['dead-letters list', 'journal.db', 'KAFKA_BROKERS'],
    ['views rebuild flows --from topics', 'journal.db', 'KAFKA_BROKERS'],
    ['counts rebuild', 'logs.db', 'ELASTICSEARCH_URL'],
  ])('%s names the folder and creates nothing', async (command, missing, server) => {
    const folder = temporaryFolder()
    const DATA_DIR = join(folder.path, 'mistyped')
    const { code, stdout, stderr } = await runHere(command.split(' '), { DATA_DIR })
    const left = readdirSync(folder.path)
    folder.remove()
    expect({ code, stdout, left }).toEqual({ code: 1, stdout: '', left: [] })
    expect(stderr).toContain(`DATA_DIR=${DATA_DIR} is no data folder: there is no ${join(DATA_DIR, missing)}; `)
    expect(stderr).toContain(`set DATA_DIR to the data folder of the server, or ${server}`)
  })

  test.each([
    ['indices apply', 0],
    ['registry apply mistyped.yaml', 1],
    ['registry restore mistyped.ndjson', 1],
  ])('%s creates nothing', async (command, expected) => {
    const folder = temporaryFolder()
    const { code } = await runHere(command.split(' '), { DATA_DIR: join(folder.path, 'mistyped') })
    const left = readdirSync(folder.path)
    folder.remove()
    expect({ code, left }).toEqual({ code: expected, left: [] })
  })

  test('registry apply reads standard input for -, as restore does', () => {
    const folder = temporaryFolder()
    const run = (...words: string[]) =>
      execFileSync(process.execPath, [join(import.meta.dirname, '../../sluice.js'), 'registry', ...words, '-'], {
        input: words[0] === 'restore' ? exported : 'teams: [{ id: ops }]',
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], DATA_DIR: join(folder.path, 'data') },
      })
    let exported = ''
    expect(run('apply')).toBe('  set team ops\n1 change made\n')
    exported = run('export')
    expect(run('restore')).toBe('0 changes made\n')
    folder.remove()
  })

  test('registry apply says what to change where the journal cannot be created', async () => {
    const folder = temporaryFolder()
    const file = join(folder.path, 'registry.yaml')
    writeFileSync(file, REGISTRY)
    const { code, stderr } = await runHere(['registry', 'apply', file], { DATA_DIR: file })
    folder.remove()
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/journal\.db cannot be created \(EEXIST: .*; set DATA_DIR to a folder/),
    })
  })
})

test('a registry that was lost with its folder is restored: it lists the same, and a revoked key stays revoked', async () => {
  const { settings, ...folder } = serverFolder(REGISTRY)
  const backup = join(folder.path, 'backup.ndjson')
  const before = { DATA_DIR: join(folder.path, 'before') }
  const after = { DATA_DIR: join(folder.path, 'after') }
  const print = async (settings: Record<string, string>, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runSluice(['registry', ...args], settings)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout
  }
  try {
    await print(before, 'apply', settings.REGISTRY_FILE)
    const { key } = JSON.parse(await print(before, 'rotate-key', 'ops', '--revoke-old', '--json'))
    await print(before, 'export', backup)
    await print(after, 'restore', backup)
    expect(await print(after, 'list', '--json')).toBe(await print(before, 'list', '--json'))
    const server = await startSluice(after)
    try {
      expect(await createClient(server.url, key).post('/api/ExternalLogs', EVENT)).toMatchObject({ success: true })
      const refused = await createClient(server.url, KEY).post('/api/ExternalLogs', EVENT)
      expect(refused).toMatchObject({ success: false, error: { code: 'invalid_api_key' } })
    } finally {
      server.kill('SIGTERM')
      await server.exited
    }
  } finally {
    folder.remove()
  }
})

test('a log store that was lost is filled again from the journal, by the next start or by command', async () => {
  const { settings, ...folder } = serverFolder(REGISTRY)
  const rebuild = (view: string, from: string) => runSluice(['views', 'rebuild', view, '--from', from], settings)
  const loseLogs = (): void => {
    for (const file of ['logs.db', 'logs.db-wal', 'logs.db-shm']) rmSync(join(settings.DATA_DIR, file), { force: true })
  }
  const servers: SluiceProcess[] = []
  const start = async (): Promise<SluiceProcess> => {
    const server = await startSluice(settings)
    servers.push(server)
    return server
  }
  const end = async (server: SluiceProcess): Promise<void> => {
    server.kill('SIGTERM')
    await server.exited
  }
  const payloads = Array.from({ length: 50 }, (_, index) => `entry ${index}`).sort()
  const expectAll = (url: string) =>
    eventually(async () => {
      const entries = await createClient(url, KEY).all('/api/event-logs')
      expect(entries.map(({ payload }) => payload).sort()).toEqual(payloads)
      const flow = await createClient(url, KEY).get('/api/flows/restored')
      expect(flow).toMatchObject({ data: { summary: { total: payloads.length } } })
    })
  try {
    const before = await start()
    for (const payload of payloads) {
      const answer = await createClient(before.url, KEY).post('/api/ExternalLogs', {
        ...{ ...EVENT, payload, correlationKey: 'restored' },
      })
      expect(answer).toMatchObject({ success: true })
    }
    await expectAll(before.url)
    expect(await rebuild('flows', 'topics')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is running on'),
    })
    expect(await rebuild('event-logs', 'indices')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--from indices needs Elasticsearch'),
    })
    await end(before)
    loseLogs()
    const filled = await start()
    await expectAll(filled.url)
    expect(filled.printed()).toContain('the log store is new')
    await end(filled)
    loseLogs()
    for (const view of ['event-logs', 'application-logs', 'flows'])
      expect(await rebuild(view, 'topics')).toMatchObject({ code: 0, stderr: '' })
    expect((await rebuild('event-logs', 'topics')).stdout).toContain('0 written, 50 were there, 0 cannot be shown')
    const after = await start()
    await expectAll(after.url)
    expect(after.printed()).not.toContain('the log store is new')
  } finally {
    for (const server of servers) await end(server)
    folder.remove()
  }
})

test('a log store that is older than the journal is brought up to it at the start', async () => {
  const { settings, ...folder } = serverFolder(REGISTRY)
  const [logs, older] = ['logs.db', 'older.db'].map((file) => join(settings.DATA_DIR, file)) as [string, string]
  /** Runs a server that takes one more entry, until all are shown; returns what it printed. */
  const run = async (payload: string, all: readonly string[]): Promise<string> => {
    const server = await startSluice(settings)
    try {
      const client = createClient(server.url, KEY)
      expect(await client.post('/api/ExternalLogs', { ...EVENT, payload })).toMatchObject({ success: true })
      await eventually(async () => {
        const entries = await client.all('/api/event-logs')
        expect(entries.map((entry) => entry.payload).sort()).toEqual(all)
      })
    } finally {
      server.kill('SIGTERM')
      await server.exited
    }
    return server.printed()
  }
  try {
    await run('a', ['a'])
    copyFileSync(logs, older)
    await run('b', ['a', 'b'])
    copyFileSync(older, logs)
    expect(await run('c', ['a', 'b', 'c'])).toContain('the log store is older than the journal')
    expect(await run('d', ['a', 'b', 'c', 'd'])).not.toContain('is older than')
  } finally {
    folder.remove()
  }
})

test('a server whose journal has failed ends with code 1, and the next one has every entry', async () => {
  const { settings, ...folder } = serverFolder(REGISTRY)
  const [trigger, fault] = [join(settings.DATA_DIR, 'trigger'), join(settings.DATA_DIR, 'fault.mjs')]
  mkdirSync(settings.DATA_DIR, { recursive: true })
  writeFileSync(
    fault,
    `import { existsSync } from 'node:fs'
     import { threadName } from 'node:worker_threads'
     const fail = () => { if (existsSync(${JSON.stringify(trigger)})) throw new Error('out of luck') }
     if (threadName === 'journal') setInterval(fail, 20)`,
  )
  const server = await startSluice({ ...settings, NODE_OPTIONS: `--import ${fault}` })
  try {
    expect(await createClient(server.url, KEY).post('/api/ExternalLogs', EVENT)).toMatchObject({ success: true })
    writeFileSync(trigger, '')
    expect(await server.exited).toBe(1)
    expect(server.printed()).toContain('the thread journal failed: out of luck')
    const next = await startSluice(settings)
    try {
      await eventually(async () => {
        expect(await createClient(next.url, KEY).get('/api/event-logs')).toMatchObject({ data: { items: [{}] } })
      })
    } finally {
      next.kill('SIGTERM')
      await next.exited
    }
  } finally {
    server.kill('SIGKILL')
    folder.remove()
  }
})
