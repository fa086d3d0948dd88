import { setTimeout as pause } from 'node:timers/promises'
import { groupName } from '../../consumers/projection.ts'
import type { MeasuredProcess } from '../measured-process.ts'
import { table } from '../numbers.ts'
import { type FilledTopic, until } from './consumers.ts'
import { BATCH, NOWHERE, send, startRole } from './programs.ts'
import type { OwnServer } from './servers.ts'
import type { Topics } from './topics.ts'

export interface MemoryRig {
  readonly broker: OwnServer
  readonly elasticsearch: OwnServer
  readonly topics: Topics
  readonly seconds: number
}

/** Resident memory of a process before and during an outage of a server that it depends on. */
export interface Memory {
  readonly beforeMiB: number
  readonly peakMiB: number
  readonly endMiB: number
}

/** More concurrent requests than the gateway's buffer holds: the excess is refused, and retried at once. */
const CONNECTIONS = 1_024
const SAMPLE_MS = 100

/** A gateway under a continued load while its broker is frozen. */
export async function measureGatewayMemory(prefix: string, { broker, seconds }: MemoryRig): Promise<Memory> {
  const gateway = await startRole('gateway', { prefix, broker: broker.address, elasticsearchUrl: NOWHERE })
  try {
    await send(gateway, BATCH, { seconds: Math.min(3, seconds) })
    const beforeMiB = gateway.memory().nowMiB
    await broker.pause()
    try {
      return { beforeMiB, ...(await watch(gateway, send(gateway, BATCH, { connections: CONNECTIONS, seconds }))) }
    } finally {
      await broker.resume()
    }
  } finally {
    await gateway.stop()
  }
}

/** Consumers with a backlog while Elasticsearch is down. Elasticsearch is not restarted. */
export async function measureConsumersMemory(filled: FilledTopic, rig: MemoryRig): Promise<Memory> {
  const { prefix, topic } = filled
  const elasticsearchUrl = rig.elasticsearch.address
  const consumers = await startRole('consumers', { prefix, broker: rig.broker.address, elasticsearchUrl })
  try {
    await until(async () => (await rig.topics.committed(topic, groupName(prefix, 'application-logs'))) > 0)
    const beforeMiB = consumers.memory().nowMiB
    await rig.elasticsearch.kill()
    return { beforeMiB, ...(await watch(consumers, pause(rig.seconds * 1_000))) }
  } finally {
    await consumers.stop()
  }
}

async function watch(program: MeasuredProcess, meanwhile: Promise<unknown>): Promise<Omit<Memory, 'beforeMiB'>> {
  let over = false
  const ended = meanwhile.finally(() => {
    over = true
  })
  let peakMiB = 0
  while (!over) {
    peakMiB = Math.max(peakMiB, program.memory().nowMiB)
    await pause(SAMPLE_MS)
  }
  await ended
  return { peakMiB, endMiB: program.memory().nowMiB }
}

export interface MemoryResults {
  readonly seconds: number
  readonly gateway: Memory
  readonly consumers: Memory
  readonly publishBufferMiB: number
}

export function renderMemory({ seconds, gateway, consumers, publishBufferMiB }: MemoryResults): string {
  const row = (name: string, { beforeMiB, peakMiB, endMiB }: Memory, configured: string): readonly string[] => [
    name,
    String(beforeMiB),
    String(peakMiB),
    String(endMiB),
    String(peakMiB - beforeMiB),
    configured,
  ]
  return `Resident memory in MiB, before what a process depends on went away and in the ${seconds} s after. The gateway has 1,024 connections at
work with batches of 100, more than its buffer takes; the consumers of all views have a backlog to read.

${table(
  ['process', 'before', 'peak', 'at the end', 'growth', 'configured'],
  [
    row(
      'gateway, its broker frozen',
      gateway,
      `PUBLISH_BUFFER_BYTES: ${publishBufferMiB} MiB of entries, of which one Team takes three quarters`,
    ),
    row(
      'consumers, Elasticsearch gone',
      consumers,
      'a partition that is read: 2 MiB ahead, 4 MiB in a batch, 5 MiB in a request; 24 partitions have records here',
    ),
  ],
)}`
}
