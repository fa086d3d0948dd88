import { createRequire } from 'node:module'
import { Kafka, logLevel } from 'kafkajs'

interface RequestQueue {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests(): void
}

const { prototype } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as { prototype: RequestQueue }
const { scheduleCheckPendingRequests } = prototype

/**
 * kafkajs 2.2.4 looks for pending requests a thousand times a second on each connection, whether there are any or not, and asks for each
 * look at a time that is over, of which Node 24 warns. With nothing pending there is nothing to look for: a request that has to wait
 * asks for its look itself.
 */
prototype.scheduleCheckPendingRequests = function scheduleWhilePending(this: RequestQueue): void {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this)
}

/** kafkajs as a foreign client of the topics would use it, without its timers of an idle connection. */
export const openKafkaJs = (brokers: readonly string[]): Kafka =>
  new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING })
