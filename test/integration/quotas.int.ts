import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { TOPICS, topicName } from '../../shared/contract/topics.ts'
import type { Envelope } from '../support/api.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { openKafka, uniqueName } from '../support/kafka.ts'
import { runSluice, type SluiceProcess, startSluice, temporaryFolder } from '../support/sluice-process.ts'

const BATCH = 100
/** The entries that a whole quota gives at once; its rate is so low that it gives next to nothing after that. */
const BURST = 3_600

const TEAMS = ['before', 'while', 'after'] as const
type Team = (typeof TEAMS)[number]
const keyOf = (team: Team): string => `quota-key-of-${team}-0123456789abcdef0123456789`
const projectOf = (team: Team): string => `3f2504e0-4f89-11d3-9a0c-0305e82c330${TEAMS.indexOf(team)}`

await describeWithBackends('quotas on Kafka', { kafka: 'shared' }, ({ kafka }) => {
  const folder = temporaryFolder()
  const running: SluiceProcess[] = []
  afterAll(async () => {
    for (const gateway of running) gateway.kill('SIGKILL')
    await Promise.all(running.map(({ exited }) => exited))
    folder.remove()
  })

  const file = join(folder.path, 'registry.yaml')
  writeFileSync(
    file,
    [
      'teams:',
      ...TEAMS.map(
        (team) =>
          `  - { id: ${team}, apiKeys: ["${keyOf(team)}"], limits: { entriesPerSecond: 1, burstSeconds: ${BURST} } }`,
      ),
      'projects:',
      ...TEAMS.map((team) => `  - { id: ${projectOf(team)}, team: ${team} }`),
    ].join('\n'),
  )
  const settingsOf = (name: string) => ({
    KAFKA_BROKERS: kafka.brokers.join(','),
    TOPIC_PREFIX: uniqueName(name),
    DATA_DIR: join(folder.path, 'data'),
    REGISTRY_FILE: file,
  })

  const start = async (settings: Record<string, string>): Promise<SluiceProcess> => {
    const gateway = await startSluice(settings, ['--role', 'gateway'])
    running.push(gateway)
    return gateway
  }

  const liveAt = async ({ url }: SluiceProcess): Promise<number> => {
    const metrics = await (await fetch(`${url}/metrics`)).text()
    return Number(/^sluice_live_gateways (\d+)$/m.exec(metrics)?.[1])
  }
  const live = (gateways: readonly SluiceProcess[], count: number): Promise<void> =>
    eventually(async () => {
      expect(await Promise.all(gateways.map(liveAt))).toEqual(gateways.map(() => count))
    }, 60_000)

  /** Sends batches of a Team to a gateway until one is refused; gives the number of entries that were taken. */
  async function takenBy({ url }: SluiceProcess, team: Team): Promise<number> {
    const entry = { categoryName: 'c', message: 'm', level: 'Information' }
    const body = JSON.stringify({ uniqueIdentifier: projectOf(team), logEntries: Array(BATCH).fill(entry) })
    const headers = { 'x-api-key': keyOf(team), 'content-type': 'application/json' }
    for (let taken = 0; ; taken += BATCH) {
      const response = await fetch(`${url}/api/ApplicationLogs/batch`, { method: 'POST', headers, body })
      const { success, error } = (await response.json()) as Envelope
      if (success) continue
      expect({ status: response.status, code: error.code }).toEqual({ status: 429, code: 'rate_limited' })
      // The Team's own number, not the part that falls to a gateway.
      expect(error.message).toContain('1 entries a second')
      return taken
    }
  }

  test('two gateways give half of a quota each; one that dies leaves all of it to the other', async () => {
    const settings = settingsOf('quotas')
    const first = await start(settings)
    await live([first], 1)
    const second = await start(settings)
    await live([first, second], 2)
    for (const gateway of [first, second]) {
      const taken = await takenBy(gateway, 'before')
      expect(taken).toBeGreaterThanOrEqual(BURST / 2)
      expect(taken).toBeLessThanOrEqual(BURST / 2 + 2 * BATCH)
    }

    second.kill('SIGKILL')
    await second.exited
    // It is not known to be dead yet.
    expect(await takenBy(first, 'while')).toBeLessThanOrEqual(BURST / 2 + 2 * BATCH)
    await live([first], 1)
    const taken = await takenBy(first, 'after')
    expect(taken).toBeGreaterThanOrEqual(BURST)
    expect(taken).toBeLessThanOrEqual(BURST + 2 * BATCH)

    const third = await start(settings)
    await live([first, third], 2)
  })

  test('gateways whose topic is missing take logs and give the whole each, and count each other once it is made', async () => {
    const settings = settingsOf('before-quotas')
    const journal = openKafka(kafka.brokers)
    const older = Object.values(TOPICS).filter(({ role }) => role !== 'gateways')
    await journal.createTopics(older.map((spec) => ({ ...spec, name: topicName(settings.TOPIC_PREFIX, spec.role) })))
    await journal.close()
    const without = { ...settings, AUTO_CREATE: 'false' }
    const gateways = [await start(without), await start(without)]
    for (const gateway of gateways) {
      expect(await takenBy(gateway, 'before')).toBeGreaterThanOrEqual(BURST)
      await eventually(() => expect(gateway.printed()).toContain('the live gateways cannot be counted'))
    }
    await live(gateways, 1)
    expect((await runSluice(['topics', 'apply'], settings)).code).toBe(0)
    await live(gateways, 2)
  })
})
