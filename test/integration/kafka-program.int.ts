import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { TOPICS, topicName } from '../../shared/contract/topics.ts'
import { TopicMissingError } from '../../shared/journal/journal.ts'
import { createClient } from '../support/api.ts'
import { describeWithBackends } from '../support/backends.ts'
import { scanAll } from '../support/journal-fixture.ts'
import { openKafka, uniqueName } from '../support/kafka.ts'
import { runSluice, type SluiceProcess, startSluice, temporaryFolder } from '../support/sluice-process.ts'

await describeWithBackends('the program on Kafka', { kafka: 'shared' }, ({ kafka }) => {
  const journal = openKafka(kafka.brokers)
  afterAll(() => journal.close())
  const folder = temporaryFolder()
  afterAll(folder.remove)
  const registryFile = join(folder.path, 'registry.yaml')
  writeFileSync(registryFile, 'teams: [{ id: payments }]')
  const broker = { KAFKA_BROKERS: kafka.brokers.join(',') }

  const makeTopicsExcept = (missing: string, prefix: string): Promise<void> =>
    journal.createTopics(
      Object.values(TOPICS)
        .filter(({ role }) => role !== missing)
        .map((spec) => ({ ...spec, name: topicName(prefix, spec.role) })),
    )

  const running = async (
    settings: Record<string, string>,
    args: readonly string[],
    work: (server: SluiceProcess) => Promise<void>,
  ): Promise<void> => {
    const server = await startSluice(settings, args)
    try {
      await work(server)
    } finally {
      server.kill('SIGTERM')
      await server.exited
    }
  }

  describe('what fails ends, though its connections are good', () => {
    test.each([
      ['topics', 'apply'],
      ['registry', 'apply', registryFile],
    ])('%s %s where the broker refuses to make a topic', async (...command) => {
      const prefix = uniqueName('refused')
      const name = topicName(prefix, 'event-logs')
      // To Kafka the same name: its metrics cannot tell a dot from an underscore.
      await journal.createTopics([{ ...TOPICS['event-logs'], name: name.replaceAll('.', '_') }])
      const { code, stdout, stderr } = await runSluice(command, { ...broker, TOPIC_PREFIX: prefix })
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain('Creating topics failed')
    })

    test.each(['event-logs', 'dead-letters', 'registry'])('consumers whose topic %s is missing', async (missing) => {
      const prefix = uniqueName('missing')
      await makeTopicsExcept(missing, prefix)
      const { code, stderr } = await runSluice(['start', '--role', 'consumers'], {
        ...broker,
        ELASTICSEARCH_URL: 'http://127.0.0.1:9',
        AUTO_CREATE: 'false',
        TOPIC_PREFIX: prefix,
        LOG_LEVEL: 'fatal',
        PORT: '0',
      })
      expect(code).toBe(1)
      expect(stderr).toContain(`${prefix}.${missing}.v1`)
    })
  })

  test.each([[['registry', 'list']], [['audit']], [['dead-letters', 'list']]])(
    '%j makes no topics where TOPIC_PREFIX is mistyped, and names the one that is missing',
    async (command) => {
      const prefix = uniqueName('mistyped')
      const { code, stdout, stderr } = await runSluice(command, { ...broker, TOPIC_PREFIX: prefix })
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain(`${prefix}.`)
      for (const { role } of Object.values(TOPICS))
        await expect(journal.partitionCount(topicName(prefix, role))).rejects.toThrow(TopicMissingError)
    },
  )

  test('two gateways share a DATA_DIR, since neither keeps anything there', async () => {
    const settings = { ...broker, TOPIC_PREFIX: uniqueName('files'), DATA_DIR: join(folder.path, 'gateways') }
    await running(settings, ['--role', 'gateway'], () =>
      running(settings, ['--role', 'gateway'], async ({ url }) => {
        const ready = await fetch(`${url}/health/ready`)
        expect({ ready: ready.status, files: existsSync(settings.DATA_DIR) }).toEqual({ ready: 200, files: false })
      }),
    )
  })

  test('consumers leave their groups, though a request took all of the time to stop', async () => {
    const settings = { ...broker, TOPIC_PREFIX: uniqueName('late'), DATA_DIR: join(folder.path, 'late') }
    const server = await startSluice({ ...settings, DRAIN_TIMEOUT_MS: '500' })
    const { hostname, port } = new URL(server.url)
    const request = connect(Number(port), hostname)
    request.write('POST /api/ExternalLogs HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n')
    await once(request, 'data')
    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
    request.destroy()
    expect(server.printed()).not.toContain('did not end by the deadline')
  })

  test('a registry is exported from one topic and restored into another, by the same commands', async () => {
    const [source, target] = ['source', 'target'].map((name) => ({ ...broker, TOPIC_PREFIX: uniqueName(name) }))
    const file = join(folder.path, 'registry.yaml')
    const backup = join(folder.path, 'backup.ndjson')
    const key = 'kafka-program-key-0123456789abcdef0123456789'
    writeFileSync(file, `teams: [{ id: ops, apiKeys: [${key}] }]\nevents: [{ identifier: started, team: ops }]`)
    const print = async (settings: Record<string, string> = {}, ...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await runSluice(['registry', ...args], settings)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return stdout
    }
    await print(source, 'apply', file)
    await print(source, 'rotate-key', 'ops', '--revoke-old')
    await print(source, 'export', backup)
    await print(target, 'restore', backup)
    expect(await print(target, 'list', '--json')).toBe(await print(source, 'list', '--json'))
    expect(await print(target, 'list')).toContain('revoked')
    expect(await print(target, 'restore', backup)).toBe('0 changes made\n')
  })

  test('a gateway leaves an empty registry empty; a server of all roles then makes a Team and prints its key', async () => {
    const settings = { ...broker, TOPIC_PREFIX: uniqueName('first'), DATA_DIR: join(folder.path, 'all') }
    await running(settings, ['--role', 'gateway'], async () => {
      expect(await scanAll(journal, topicName(settings.TOPIC_PREFIX, 'registry'))).toEqual([])
    })
    await running(settings, [], async ({ url, printed }) => {
      const key = /shown this once: (\S+)/.exec(printed())?.[1] ?? ''
      const entry = { uniqueIdentifier: 'order-placed', payload: 'hello', level: 'Information' }
      expect(await createClient(url, key).post('/api/ExternalLogs', entry)).toMatchObject({ success: true })
    })
  })
})
