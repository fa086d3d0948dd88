import { type TopicRole, topicName } from '../shared/contract/topics.ts'
import type { CoreServices, RoleParts } from '../shared/role.ts'
import { createEndpoints } from './endpoints.ts'
import { createLiveGateways } from './live-gateways.ts'
import { createPublisher, PUBLISHER_DEFAULTS } from './publisher/publisher.ts'
import type { BatchingPolicy } from './publisher/schedule.ts'
import { createRefusalOutbox } from './refusals/outbox.ts'
import { createRefusalRecorder } from './refusals/recorder.ts'

/** The smallest share of a rate: connections are never spread evenly enough for less to suffice. */
const SHARE_MIN = 0.1

interface GatewayDeps extends CoreServices {
  readonly batchingPolicy: BatchingPolicy
}

/** The role that takes logs: its endpoints check requests, and its publisher makes their entries durable in the journal. */
export function createGateway(deps: GatewayDeps): RoleParts {
  const { config, batchingPolicy } = deps
  const topicOf = (role: TopicRole): string => topicName(config.TOPIC_PREFIX, role)
  const publisher = createPublisher({
    ...deps,
    options: {
      ...PUBLISHER_DEFAULTS,
      ...batchingPolicy,
      topics: [topicOf('event-logs'), topicOf('application-logs')],
      bufferBytesMax: config.PUBLISH_BUFFER_BYTES,
      sendTimeoutMs: config.REQUEST_DEADLINE_MS,
    },
  })
  const gateways = createLiveGateways({ ...deps, topic: topicOf('gateways') })
  const outbox = createRefusalOutbox({ ...deps, topic: topicOf('refusals') })
  const share = (): number => Math.max(SHARE_MIN, 1 / gateways.count())
  const refusalRecorder = createRefusalRecorder({ ...deps, outbox, share })
  // Only with Kafka can there be other gateways.
  const counted = config.KAFKA_BROKERS.length > 0 ? [gateways] : []
  return {
    services: [publisher, ...counted, outbox],
    health: [publisher],
    ...createEndpoints({ ...deps, publisher, refusalRecorder, share }),
  }
}
