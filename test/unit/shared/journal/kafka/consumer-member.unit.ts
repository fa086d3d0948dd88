import { type Reader, Writer } from '@platformatic/kafka'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import type { Cluster } from '../../../../../shared/journal/kafka/cluster.ts'
import { startConsumerMember } from '../../../../../shared/journal/kafka/consumer-member.ts'
import { subscribeToTopics } from '../../../../../shared/journal/kafka/group.ts'
import type { Ended, GroupContext, Member } from '../../../../../shared/journal/kafka/member.ts'
import { systemClock } from '../../../../../shared/runtime/clock.ts'
import { eventually } from '../../../../support/eventually.ts'
import { apiVersions, type FakeBroker, startFakeBroker } from '../../../../support/fake-broker.ts'
import { connectionTo, testLogger } from '../../../../support/kafka.ts'

const FIND_COORDINATOR = 10
const API_VERSIONS = 18
const HEARTBEAT = 68
const JOIN = 0
const LEAVE = -1
const INTERVAL_MS = 1_000
const GROUP_AUTHORIZATION_FAILED = 30

interface Heartbeat {
  readonly memberId: string
  readonly epoch: number
}

/** A group's only broker; heartbeats for which `isAnswered` is false reach the group, but their answers are lost. */
async function startCoordinator(
  isAnswered: (heartbeat: Heartbeat) => boolean,
  onApiVersions = (): void => undefined,
  errorCode = 0,
) {
  const heartbeats: Heartbeat[] = []
  const broker: FakeBroker = await startFakeBroker(({ apiKey, body }) => {
    if (apiKey === API_VERSIONS) {
      onApiVersions()
      return apiVersions([[HEARTBEAT, 1]], true)
    }
    if (apiKey === FIND_COORDINATOR) return coordinator(broker)
    const heartbeat = readHeartbeat(body)
    heartbeats.push(heartbeat)
    return isAnswered(heartbeat) ? answered(heartbeat, errorCode) : undefined
  })
  return { broker, heartbeats }
}

const coordinator = ({ host, port }: FakeBroker): Writer =>
  Writer.create()
    .appendTaggedFields()
    .appendInt32(0)
    .appendArray(['group'], (found, group) =>
      found.appendString(group).appendInt32(1).appendString(host).appendInt32(port).appendInt16(0).appendString(null),
    )
    .appendTaggedFields()

function readHeartbeat(body: Reader): Heartbeat {
  body.readTaggedFields()
  body.readString() // the group
  return { memberId: body.readString(), epoch: body.readInt32() }
}

const answered = ({ memberId, epoch }: Heartbeat, errorCode: number): Writer =>
  Writer.create()
    .appendTaggedFields()
    .appendInt32(0)
    .appendInt16(errorCode)
    .appendString(null)
    .appendString(memberId)
    .appendInt32(epoch === JOIN ? 1 : epoch)
    .appendInt32(INTERVAL_MS)
    .appendInt8(-1) // no assignment
    .appendTaggedFields()

const contextOf = ({ host, port }: FakeBroker, logger = testLogger): GroupContext => ({
  clock: systemClock,
  connection: connectionTo([`${host}:${port}`]),
  cluster: {} as Cluster,
  logger,
  closing: new AbortController().signal,
  requestTimeoutMs: 500,
  maxWaitMs: 100,
  maxPartitionBytes: 1_000,
  groupProtocol: 'auto',
  sessionTimeoutMs: 30_000,
  rebalanceTimeoutMs: 60_000,
  heartbeatIntervalMs: INTERVAL_MS,
})

/** A member of the group, with the reasons why it ended. */
function startMember(broker: FakeBroker) {
  const context = contextOf(broker)
  const ends: Ended[] = []
  const reading = {
    context,
    group: 'group',
    topics: ['logs'],
    recordsMax: 10,
    handler: async () => undefined,
    onBegun: () => undefined,
    onReplaced: () => undefined,
    fail: () => undefined,
  }
  const end = (ended: Ended): unknown => ends.push(ended)
  return { ends, member: startConsumerMember({ context, reading, onAssigned: () => undefined, end }) }
}

async function end(member: Member): Promise<void> {
  const assignment = member.assignment()
  assignment?.abort()
  await assignment?.ended()
  await member.leave()
}

test('a join whose answer is lost is repeated by the same member', async () => {
  let joins = 0
  const { broker, heartbeats } = await startCoordinator(({ epoch }) => epoch !== JOIN || ++joins > 1)
  const { member, ends } = startMember(broker)
  await eventually(() => member.assignment() !== undefined)
  await end(member)
  broker.close()
  expect(ends).toEqual([])
  expect(joins).toBe(2)
  expect(new Set(heartbeats.map(({ memberId }) => memberId)).size).toBe(1)
})

test('a member whose joins got no answer leaves the group all the same, though its connection is closing', async () => {
  const { broker, heartbeats } = await startCoordinator(({ epoch }) => epoch !== JOIN)
  const { member } = startMember(broker)
  await eventually(() => heartbeats.length > 0)
  await member.leave()
  broker.close()
  expect(heartbeats.at(-1)).toEqual({ memberId: heartbeats[0]?.memberId, epoch: LEAVE })
})

test('a member that sent no join has nothing to leave', async () => {
  const { broker, heartbeats } = await startCoordinator(() => true)
  broker.close()
  const { member, ends } = startMember(broker)
  await eventually(() => ends.length > 0)
  await member.leave()
  expect(heartbeats).toEqual([])
})

test('a member that is stopped before it sent a join sends none', async () => {
  const asked = Promise.withResolvers<void>()
  const { broker, heartbeats } = await startCoordinator(() => true, asked.resolve)
  const { member } = startMember(broker)
  await asked.promise
  member.stop()
  await member.leave()
  broker.close()
  expect(heartbeats).toEqual([])
})

test('the answer to a join is one of the group', async () => {
  let joinedAt = Number.POSITIVE_INFINITY
  const { broker } = await startCoordinator(({ epoch }) => {
    if (epoch === JOIN) joinedAt = performance.now()
    return epoch === JOIN
  })
  const { member } = startMember(broker)
  await eventually(() => member.assignment() !== undefined)
  expect(member.heartbeatAt()).toBeGreaterThan(joinedAt)
  await end(member)
  broker.close()
})

test('a group that refuses one member after the other is told of once', async () => {
  const { broker, heartbeats } = await startCoordinator(
    () => true,
    () => undefined,
    GROUP_AUTHORIZATION_FAILED,
  )
  const warnings: { readonly msg: string; readonly reason: string }[] = []
  const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line)) })
  const context = { ...contextOf(broker, logger), handlerTimeoutMs: 300_000, stallTimeoutMs: 20_000 }
  const options = { group: 'group', topics: ['logs'], recordsMax: 10 }
  const subscription = subscribeToTopics(context, options, async () => undefined)
  const members = () => new Set(heartbeats.map(({ memberId }) => memberId)).size
  await eventually(() => members() >= 3)
  await subscription.close()
  broker.close()
  expect(warnings).toMatchObject([
    { msg: 'a group member is made anew', reason: expect.stringContaining('(docs/kafka.md lists the rights') },
  ])
})
