import { afterAll, beforeAll, expect, test } from 'vitest'
import { ELASTICSEARCH_VERSION, KAFKA_IMAGE } from '../stack/backend.ts'
import { freePorts } from '../stack/ports.ts'
import { createClient, type Envelope, type List } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { createLedger } from '../support/ledger.ts'
import { describeWithDocker, docker, documentedCommands, removeLeftovers, run, uniqueName } from './image-support.ts'

const KEY = 'sl_demo-key-for-compose-only'
const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const IMAGES = [KAFKA_IMAGE, `docker.elastic.co/elasticsearch/elasticsearch:${ELASTICSEARCH_VERSION}`]
const BATCH = 100
const UP_MS = 180_000

describeWithDocker('the compose stack', IMAGES, () => {
  const name = uniqueName()
  let environment: Record<string, string> = {}
  let address = { gateway: '', views: '' }

  const compose = (...args: readonly string[]) =>
    run('docker', ['compose', '--project-name', name, ...args], environment)

  beforeAll(async () => {
    await removeLeftovers()
    const [gateway = 0, views = 0, kafka = 0] = await freePorts(3)
    environment = {
      IMAGE: name,
      GATEWAY_PORT: String(gateway),
      VIEWS_PORT: String(views),
      KAFKA_PORT: String(kafka),
      LOG_LEVEL: 'warn',
    }
    address = { gateway: `127.0.0.1:${gateway}`, views: `127.0.0.1:${views}` }
    await compose('up', '--detach', '--wait', '--build')
  }, UP_MS)

  afterAll(async () => {
    await compose('down', '--volumes', '--timeout', '5').catch(() => undefined)
    await docker('image', 'rm', name).catch(() => undefined)
  }, 60_000)

  /** The commands that the page tells its reader to type, against the ports of this run. */
  const typed = async (heading: string): Promise<unknown> => {
    const commands = documentedCommands(heading)
      .replaceAll('127.0.0.1:8080', address.gateway)
      .replaceAll('127.0.0.1:8081', address.views)
    return JSON.parse((await run('bash', ['-euc', commands])).stdout)
  }

  /** How many records of the application logs each consumer has stored. */
  const storedBy = (consumer: number): Promise<number> =>
    compose(
      ...['exec', '-T', '--index', String(consumer), 'consumers', 'node', '--eval'],
      "fetch('http://127.0.0.1:8080/metrics').then((answer) => answer.text()).then((text) => process.stdout.write(text))",
    ).then(({ stdout }) => {
      const line = /^sluice_consumer_records_total\{view="application-logs",outcome="stored"\} (\d+)$/m.exec(stdout)
      return Number(line?.[1] ?? 0)
    })

  test('an entry sent as documented is read as documented', async () => {
    const { data } = (await typed('Send a log to the stack')) as Envelope
    expect(data['id']).toEqual(expect.any(String))
    await eventually(async () => {
      const list = (await typed('Read it back from the stack')) as Envelope<List>
      expect(list.data.items.map(({ id }) => id)).toEqual([data['id']])
    }, 30_000)
  }, 60_000)

  test('with a second consumer every entry is still shown once', async () => {
    const gateway = createClient(`http://${address.gateway}`, KEY)
    const views = createClient(`http://${address.views}`, KEY)
    const ledger = createLedger()
    let next = 0
    // A correlationKey of its own spreads the entries of a batch over the partitions.
    const send = async (): Promise<void> => {
      const marks = Array.from({ length: BATCH }, () => `mark-${next++}`)
      for (const mark of marks) ledger.sent(mark)
      const logEntries = marks.map((mark) => ({
        categoryName: 'Compose',
        message: mark,
        level: 'Information',
        correlationKey: mark,
      }))
      const { success, error } = await gateway.post('/api/ApplicationLogs/batch', {
        uniqueIdentifier: PROJECT,
        logEntries,
      })
      if (!success) throw new Error(`${error.code}: ${error.message}`)
      for (const mark of marks) ledger.answered(mark)
    }
    const settled = async () =>
      ledger.settle((await views.all('/api/application-logs')).map(({ message }) => message ?? ''))
    /** One batch on its way at a time, so that the consumers and not the backlog are what is looked at. */
    const sendAndSee = async (): Promise<void> => {
      await send()
      await eventually(async () => expect(await settled()).toMatchObject({ missing: [] }), 60_000)
    }

    await sendAndSee()
    let scaled = false
    const scaling = compose('up', '--detach', '--wait', '--no-recreate', '--scale', 'consumers=2').finally(() => {
      scaled = true
    })
    while (!scaled) await sendAndSee()
    await scaling
    // Until the second has its share: what is sent before goes to the first alone.
    await eventually(async () => {
      await sendAndSee()
      return (await storedBy(2)) > 0
    }, 60_000)
    const storedByFirst = await storedBy(1)
    await sendAndSee()

    // Each partition is read in order: whatever was shown a second time has been shown by now.
    expect(await settled()).toMatchObject({ missing: [], duplicates: [], strangers: [] })
    expect(await storedBy(1)).toBeGreaterThan(storedByFirst)
  }, 150_000)

  test('stopped servers have drained, and nothing is left after down', async () => {
    await compose('stop', 'gateway', 'consumers', 'views')
    const { stdout } = await compose(
      'ps',
      '--all',
      '--format',
      '{{.Service}} {{.ExitCode}}',
      'gateway',
      'consumers',
      'views',
    )
    expect(stdout.trim().split('\n').toSorted()).toEqual(['consumers 0', 'consumers 0', 'gateway 0', 'views 0'])

    await compose('down', '--volumes', '--timeout', '5')
    const label = `label=com.docker.compose.project=${name}`
    expect(await docker('ps', '--all', '--quiet', '--filter', label)).toBe('')
    expect(await docker('volume', 'ls', '--quiet', '--filter', label)).toBe('')
  }, 60_000)
})
