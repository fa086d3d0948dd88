/** How a consumer works; each has a default. */
export interface ConsumerOptions {
  /** Most records of one batch read from a partition. */
  readonly batchRecordsMax: number
  /** Most documents of one write to the store. */
  readonly writeDocumentsMax: number
  /** Most bytes of one write to the store, measured as the records' values. */
  readonly writeBytesMax: number
  /** Most dead letters in a row in one partition; one more halts the consumer. */
  readonly deadLetterRunMax: number
  /** Greatest share (0 to 1) of dead letters among the last `deadLetterWindowRecords` records of a partition. */
  readonly deadLetterRatioMax: number
  readonly deadLetterWindowRecords: number
  /** Time between two looks at how far the projection is behind. */
  readonly lagIntervalMs: number
}

export const CONSUMER_DEFAULTS: ConsumerOptions = {
  batchRecordsMax: 1_000,
  writeDocumentsMax: 1_000,
  writeBytesMax: 4 * 1024 * 1024,
  deadLetterRunMax: 100,
  deadLetterRatioMax: 0.5,
  deadLetterWindowRecords: 1_000,
  lagIntervalMs: 5_000,
}
