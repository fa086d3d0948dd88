import { Admin, ConfigResourceTypes, IncrementalAlterConfigOperationTypes } from '@platformatic/kafka'
import { groupName, PROJECTION_NAMES } from '../../consumers/projection.ts'
import { eventually } from './eventually.ts'
import type { FullStack } from './full-stack.ts'

/** Operations on topics and groups for which operators use Kafka's own tools. */
export interface KafkaOperator {
  /** Deletes the topic with all its records. */
  deleteTopic(topic: string): Promise<void>
  /** Adds partitions, on node 1, to the existing ones. */
  addPartitions(topic: string, existing: number, added: number): Promise<void>
  setConfig(topic: string, name: string, value: string): Promise<void>
  /** Deletes the views' positions, so that they read everything again. Their groups must have no members. */
  forgetPositions(topicPrefix: string): Promise<void>
}

export async function withOperator(
  brokers: readonly string[],
  work: (operator: KafkaOperator) => Promise<void>,
): Promise<void> {
  const admin = new Admin({ clientId: 'operator', bootstrapBrokers: [...brokers], retries: 10, requestTimeout: 5_000 })
  try {
    await work({
      deleteTopic: (topic) => admin.deleteTopics({ topics: [topic] }),
      addPartitions: async (name, existing, added) => {
        const assignments = Array.from({ length: added }, () => ({ brokerIds: [1] }))
        await admin.createPartitions({ topics: [{ name, count: existing + added, assignments }] })
      },
      setConfig: async (resourceName, name, value) => {
        const configs = [{ name, value, configOperation: IncrementalAlterConfigOperationTypes.SET }]
        const resource = { resourceType: ConfigResourceTypes.TOPIC, resourceName, configs }
        await admin.incrementalAlterConfigs({ resources: [resource] })
      },
      // A killed member stays in its group until its session times out.
      forgetPositions: (topicPrefix) =>
        eventually(
          () => admin.deleteGroups({ groups: PROJECTION_NAMES.map((view) => groupName(topicPrefix, view)) }),
          60_000,
        ),
    })
  } finally {
    await admin.close()
  }
}

/** Blocks writes to the indices, or allows them again (`null`). */
export const blockWrites = ({ elasticsearchUrl, indexPrefix }: FullStack, blocked: true | null): Promise<Response> =>
  fetch(`${elasticsearchUrl}/${indexPrefix}-*/_settings`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ 'index.blocks.write': blocked }),
  })
