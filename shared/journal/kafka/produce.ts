import { type Connection, ProduceAcks, produceV9, Writer } from '@platformatic/kafka'

/** Kafka's key of the Produce request, and the version that every broker since 2.4 supports. */
const PRODUCE = 0
const VERSION = 9

/** The answer of a broker to a batch. */
interface Produced {
  /** A batch is stored as a whole, so its first offset stands for every record. */
  readonly isConfirmed: boolean
  /** Milliseconds for which the broker reads nothing more from the connection, as a quota is used up (KIP-219); mostly 0. */
  readonly mutedMs: number
}

/**
 * Sends one record batch to the leader of its partition with acks=all. Rejects with the library's errors, which carry the broker's codes.
 */
export function produce(
  connection: Connection,
  { topic, partition }: { readonly topic: string; readonly partition: number },
  batch: Buffer,
  timeoutMs: number,
): Promise<Produced> {
  const request = () =>
    Writer.create()
      .appendString(null) // no transaction
      .appendInt16(ProduceAcks.ALL)
      .appendInt32(timeoutMs)
      .appendArray([topic], (ofTopic, name) =>
        ofTopic.appendString(name).appendArray([batch], (ofPartition, records) =>
          ofPartition
            .appendInt32(partition)
            .appendUnsignedVarInt(records.length + 1)
            .append(records),
        ),
      )
      .appendTaggedFields()
  return new Promise((resolve, reject) => {
    connection.send<produceV9.ProduceResponse>(
      PRODUCE,
      VERSION,
      request,
      produceV9.parseResponse,
      true,
      true,
      (error, answer) => {
        if (error) reject(error)
        else
          resolve({
            isConfirmed: answer !== undefined && confirms(answer, topic, partition),
            mutedMs: answer?.throttleTimeMs ?? 0,
          })
      },
    )
  })
}

/** The `mutedMs` of an answer that the library made an error of. */
export const mutedMsOf = (error: unknown): number =>
  (error as { readonly response?: Partial<produceV9.ProduceResponse> }).response?.throttleTimeMs ?? 0

function confirms({ responses }: produceV9.ProduceResponse, topic: string, partition: number): boolean {
  const answered = responses.flatMap(({ name, partitionResponses }) =>
    partitionResponses.map(({ index, errorCode, baseOffset }) => ({ name, index, errorCode, baseOffset })),
  )
  return (
    answered.length === 1 &&
    answered.every(
      (one) => one.name === topic && one.index === partition && one.errorCode === 0 && one.baseOffset >= 0n,
    )
  )
}
