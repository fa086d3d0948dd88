import type { Base } from '@platformatic/kafka'
import { askPastSilent } from './bootstrap.ts'
import type { KafkaConnection } from './connection.ts'
import { mendMetadata } from './metadata.ts'

/** Gives a client of the library back, mended where it would not outlive a broker that is frozen or a partition without a leader. */
export const patchClient = <Client extends Base>(client: Client, connection: KafkaConnection): Client =>
  askPastSilent(mendMetadata(client, connection), connection)
