import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openJournal, openLogStore } from '../../../../deploy/server/backends.ts'
import { createConsumersInThread } from '../../../../deploy/server/consumers-in-thread.ts'
import { topicName } from '../../../../shared/contract/topics.ts'
import type { Journal } from '../../../../shared/journal/journal.ts'
import { systemClock } from '../../../../shared/runtime/clock.ts'
import { type Config, loadConfig } from '../../../../shared/runtime/config.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import { silent } from '../../../support/consumers-rig.ts'
import { eventDocument } from '../../../support/documents.ts'
import { eventually } from '../../../support/eventually.ts'
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

const depsOf = (config: Config) => {
  return { config, clock: systemClock, logger: silent, metrics: createMetrics(), tracer: null }
}

async function createTopics(config: Config, fill = async (_: Journal): Promise<void> => {}): Promise<void> {
  const { journal, applyTopics } = await openJournal(depsOf(config), 'same')
  await applyTopics()
  await fill(journal)
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
  const consumers = createConsumersInThread(config, silent)
  await consumers.start()
  await asked.promise
  await consumers.stop(systemClock.now())
  expect(await consumers.health()).toMatchObject([{ name: 'consumers', ready: false }])
  await consumers.done
}, 20_000)

test('an embedded journal that cannot be maintained does not keep the log store from being maintained', async () => {
  const config = loadConfig({ DATA_DIR: folder.path, LOG_LEVEL: 'silent' })
  const record = { key: 'key', value: 'value', headers: {} }
  await createTopics(config, (journal) =>
    journal.append({ topic: topicName(config.TOPIC_PREFIX, 'registry'), partition: 0, records: [record, record] }),
  )
  const journal = new DatabaseSync(join(folder.path, 'journal.db'))
  journal.exec(`CREATE TRIGGER kept BEFORE DELETE ON batches BEGIN SELECT raise(ABORT, 'a fault'); END`)
  journal.close()
  const { store } = await openLogStore(depsOf(config), 'same')
  await store.write([eventDocument()], new AbortController().signal)
  await store.close()

  const consumers = createConsumersInThread(config, silent)
  await consumers.start()
  const logs = new DatabaseSync(join(folder.path, 'logs.db'))
  const counted = logs.prepare('SELECT counted FROM rollup_state')
  await eventually(() => counted.get()?.['counted'] === 1)
  logs.close()
  await consumers.stop(systemClock.now() + 5_000)
}, 20_000)

test('consumers whose thread died begin again in another, and stop if it dies too', async () => {
  const config = loadConfig({ DATA_DIR: folder.path, LOG_LEVEL: 'silent' })
  await createTopics(config)
  const threads: Worker[] = []
  const note = (worker: Worker): void => void threads.push(worker)
  process.on('worker', note)
  const consumers = createConsumersInThread(config, silent, 10)
  const isReady = async (): Promise<boolean> => (await consumers.health()).every(({ ready }) => ready)
  await consumers.start()
  await eventually(isReady)
  await threads[0]?.terminate()
  await eventually(async () => threads.length === 2 && (await isReady()))
  await threads[1]?.terminate()
  await consumers.stop(systemClock.now() + 5_000)
  await consumers.done
  process.off('worker', note)
})

test('consumers that are stopped while they cannot begin again do not try further', async () => {
  const config = loadConfig({ DATA_DIR: folder.path, LOG_LEVEL: 'silent' })
  await createTopics(config)
  const told: string[] = []
  const logger = { error: (_facts: unknown, text?: string) => void told.push(text ?? '') }
  const consumers = createConsumersInThread(config, logger as typeof silent, 10)
  const threads: Worker[] = []
  const ended = Promise.withResolvers<unknown>()
  const note = (worker: Worker): void => {
    if (threads.push(worker) !== 2) return
    ended.resolve(Promise.all([once(worker, 'exit'), consumers.stop(systemClock.now() + 5_000)]))
  }
  process.on('worker', note)
  await consumers.start()
  await threads[0]?.terminate()
  for (const end of ['', '-wal', '-shm']) rmSync(join(folder.path, `logs.db${end}`), { force: true })
  writeFileSync(join(folder.path, 'logs.db'), 'no database '.repeat(1_000))
  await ended.promise
  await consumers.done
  await nextTurn()
  expect(told).toEqual(['the thread of the consumers died; another one goes on where it was'])
  process.off('worker', note)
})
