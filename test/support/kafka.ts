import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import type { KafkaConnection } from '../../shared/journal/kafka/connection.ts'
import {
  createKafkaJournal,
  type KafkaJournal,
  type KafkaJournalOptions,
} from '../../shared/journal/kafka/kafka-journal.ts'
import { systemClock } from '../../shared/runtime/clock.ts'

export const connectionTo = (brokers: readonly string[]): KafkaConnection => ({
  brokers,
  clientId: 'sluice-test',
  ssl: null,
  sasl: null,
})

/** LOG_LEVEL_TESTS=debug shows the adapter's log. */
export const testLogger = pino({ level: process.env['LOG_LEVEL_TESTS'] ?? 'silent' })

export const openKafka = (brokers: readonly string[], options: Partial<KafkaJournalOptions> = {}): KafkaJournal =>
  createKafkaJournal({ connection: connectionTo(brokers), clock: systemClock, logger: testLogger, options })

/** A name that is unique on the shared broker. */
export const uniqueName = (base: string): string => `${base}-${randomUUID().slice(0, 8)}`
