import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createConsumersInThread } from '../../../../deploy/server/consumers-in-thread.ts'
import { openJournal } from '../../../../deploy/server/journals.ts'
import { systemClock } from '../../../../shared/runtime/clock.ts'
import { type Config, loadConfig } from '../../../../shared/runtime/config.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import { silent } from '../../../support/consumers-rig.ts'
import { temporaryFolder } from '../../../support/sluice-process.ts'

const folder = temporaryFolder()
let frozen: Server
const asked = Promise.withResolvers<void>()

beforeEach(async () => {
  frozen = createServer((socket) => void socket.once('data', () => asked.resolve()).on('error', () => undefined))
  frozen.listen(0, '127.0.0.1')
  await once(frozen, 'listening')
})

afterEach(() => {
  frozen.close()
  folder.remove()
})

async function createTopics(config: Config): Promise<void> {
  const deps = { config, clock: systemClock, logger: silent, metrics: createMetrics(), tracer: null }
  const { journal, applyTopics } = await openJournal(deps, 'same')
  await applyTopics()
  await journal.close()
}

// A request to Elasticsearch takes 30 s until it is given up, and is then repeated.
test('consumers stop by the deadline, though Elasticsearch has not answered their maintenance', async () => {
  const { port } = frozen.address() as AddressInfo
  const config = loadConfig({
    DATA_DIR: folder.path,
    LOG_LEVEL: 'silent',
    ELASTICSEARCH_URL: `http://127.0.0.1:${port}`,
  })
  await createTopics(config)
  const consumers = createConsumersInThread(config)
  await consumers.start()
  await asked.promise
  await consumers.stop(systemClock.now())
  expect(await consumers.health()).toMatchObject([{ name: 'consumers', ready: false }])
  await consumers.done
}, 20_000)
