import { createRequire } from 'node:module'
import { Kafka, logLevel } from 'kafkajs'

interface RequestQueue {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests(): void
}

const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as { prototype: RequestQueue }
const { scheduleCheckPendingRequests } = prototype

/**
 * On each connection, kafkajs 2.2.4 checks for pending requests a thousand times a second even if there are none, with negative timeouts,
 * of which Node 24 warns. Without pending requests no check is needed: a request that has to wait schedules one itself.
 */
prototype.scheduleCheckPendingRequests = function scheduleWhilePending(this: RequestQueue): void {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this)
}

/** kafkajs as a foreign client of the topics, without its timers on idle connections. */
export const openKafkaJs = (brokers: readonly string[]): Kafka =>
  new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING })
