import { replayDeadLetters } from '../../consumers/dead-letter-replay.ts'
import { TOPICS, type TopicRole, topicName } from '../../shared/contract/topics.ts'
import { AppendError, type NamedTopic } from '../../shared/journal/journal.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { createMemoryStoreWriter } from '../support/consumers-store.ts'
import { createMemoryJournal } from '../support/memory-journal.ts'
import { runClient, sendRefused } from './clients.ts'
import {
  APPLICATION_TOPIC,
  createSimulationLedger,
  EVENT_TOPIC,
  type Ledger,
  POISON_HEADER,
  REFUSED_MARK,
} from './ledger.ts'
import { CallError, createNetwork, FAULTY_MS, wait } from './network.ts'
import { openJournal, PREFIX, runConsumers, runGateway, type Site } from './processes.ts'
import { createWorld, type World } from './world.ts'

/** Values that no projection can decode. */
const POISON = ['{', '', '[]', '{"kind":"other"}', Buffer.from([0xff, 0xfe])] as const

/** Runs everything that the seed chooses, heals the network, waits until everything is read, and settles the ledger. */
export async function runSchedule(seed: number): Promise<World> {
  const world = createWorld(seed)
  await world.run(() => happen(world))
  return world
}

async function happen(world: World): Promise<void> {
  const { random } = world
  const partitions = random.between(1, 3)
  const journal = createMemoryJournal({ clock: systemClock, topics: topicsWith(partitions) })
  const store = createMemoryStoreWriter()
  store.refuse = ({ source }) => (source.includes(REFUSED_MARK) ? 'mended later' : undefined)
  const network = createNetwork(random, world.note, true)
  const ledger = createSimulationLedger(journal, store, world.find)
  const [poison, refused] = [random.int(5), random.int(2)]
  // A send that the journal executed twice produces two records per entry.
  const deadLetterRunMax = poison + 2 * refused
  const site: Site = { world, network, journal, store, deadLetterRunMax, onCommitted: ledger.committed }

  const gateways = Array.from({ length: random.between(1, 2) }, (_, index) => runGateway(site, `gateway-${index}`))
  for (let index = random.between(1, 2); index > 0; index -= 1) runConsumers(site, `consumers-${index}`)
  const clients = Array.from({ length: random.between(1, 4) }, (_, index) =>
    runClient(site, `client-${index}`, gateways, { ledger, requests: random.between(1, 8) }),
  )
  const others = [
    poisonTopic(site, partitions, poison),
    ...Array.from({ length: refused }, (_, index) =>
      sendRefused(site, random.pick(gateways), ledger, `refused-${index}`),
    ),
  ]
  await wait(FAULTY_MS)
  network.heal()
  world.note('all is healed')
  await Promise.all([...clients, ...others])
  await drain(ledger)
  ledger.expectDeadLetters()
  store.refuse = undefined
  world.note('the store is mended')
  await replay(site)
  await drain(ledger)
  ledger.expectDeadLetters()
  ledger.settle()
}

const topicsWith = (partitions: number): readonly NamedTopic[] =>
  (['event-logs', 'application-logs', 'dead-letters', 'refusals'] as const).map((role: TopicRole) => ({
    ...TOPICS[role],
    name: topicName(PREFIX, role),
    partitions: role === 'dead-letters' || role === 'refusals' ? 1 : partitions,
  }))

/** Writes bad records, bypassing the gateway. They are consecutive, so that counting one of them twice exceeds the flood limit. */
async function poisonTopic({ network: { random }, journal }: Site, partitions: number, count: number): Promise<void> {
  await wait(random.int(FAULTY_MS))
  const headers = { [POISON_HEADER]: '1' }
  const records = Array.from({ length: count }, () => ({ key: null, value: random.pick(POISON), headers }))
  const topic = random.pick([EVENT_TOPIC, APPLICATION_TOPIC])
  await journal.append({ topic, partition: random.int(partitions), records })
}

async function drain(ledger: Ledger): Promise<void> {
  while (!(await ledger.isDrained())) await wait(100)
}

/** An operator replays the dead letters; the command can be killed and is then restarted. */
async function replay(site: Site): Promise<void> {
  const { network, world } = site
  for (let attempt = 1; ; attempt += 1) {
    const process = network.createProcess(`replay.${attempt}`)
    if (network.random.oneIn(3)) void wait(network.random.int(100)).then(process.kill)
    const replayed = replayDeadLetters(openJournal(site, process), { topicPrefix: PREFIX })
      .then(() => true)
      .catch((error: unknown) => {
        if (!(error instanceof AppendError || error instanceof CallError)) world.find(`the replay failed: ${error}`)
        return false
      })
    if (await Promise.race([replayed, process.died.then(() => false)])) return
  }
}
