import { topicName } from '../shared/contract/topics.ts'
import type { CoreServices, RoleParts } from '../shared/role.ts'
import { createEndpoints } from './endpoints.ts'
import { createPublisher, PUBLISHER_DEFAULTS } from './publisher/publisher.ts'
import type { BatchingPolicy } from './publisher/schedule.ts'
import { createRefusalOutbox } from './refusals/outbox.ts'
import { createRefusalRecorder } from './refusals/recorder.ts'

export interface GatewayDeps extends CoreServices {
  readonly batchingPolicy: BatchingPolicy
}

/** The role that takes logs: its endpoints check requests, and its publisher makes their entries durable in the journal. */
export function createGateway(deps: GatewayDeps): RoleParts {
  const { config, batchingPolicy } = deps
  const topicOf = (role: Parameters<typeof topicName>[1]): string => topicName(config.TOPIC_PREFIX, role)
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
  const outbox = createRefusalOutbox({ ...deps, topic: topicOf('refusals') })
  const refusalRecorder = createRefusalRecorder({ ...deps, outbox })
  return { services: [publisher, outbox], ...createEndpoints({ ...deps, publisher, refusalRecorder }) }
}
