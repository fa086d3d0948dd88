/**
 * Why a record becomes a dead letter, each with the stage at which it failed, in the words of Kafka Connect. The union is
 * closed: it is a metric's label, a header of the dead letter and what an operator filters by (docs/dead-letters.md).
 */
export const DEAD_LETTER_REASONS = {
  empty_value: 'VALUE_CONVERTER',
  too_large: 'VALUE_CONVERTER',
  not_utf8: 'VALUE_CONVERTER',
  invalid_json: 'VALUE_CONVERTER',
  too_deep: 'VALUE_CONVERTER',
  unknown_kind: 'VALUE_CONVERTER',
  invalid_record: 'VALUE_CONVERTER',
  projection_failed: 'TRANSFORMATION',
  refused_by_store: 'TASK_PUT',
} as const satisfies Record<string, string>

export type DeadLetterReason = keyof typeof DEAD_LETTER_REASONS

export const isDeadLetterReason = (text: string): text is DeadLetterReason => Object.hasOwn(DEAD_LETTER_REASONS, text)

export interface DeadLetter {
  readonly outcome: 'deadLetter'
  readonly reason: DeadLetterReason
  /** Says what is wrong and holds no value of the record: it is logged and shown. */
  readonly message: string
}

/** What a projection makes of one record. */
export type Projected<Item> =
  | { readonly outcome: 'ok'; readonly item: Item; readonly receivedAt: string }
  /** The projection has no use for the record; nothing is wrong with it. */
  | { readonly outcome: 'skip'; readonly reason: 'no_correlation_key' }
  | DeadLetter

/** `receivedAt` is the entry's. */
export const ok = <Item>(item: Item, receivedAt: string): Projected<Item> => ({ outcome: 'ok', item, receivedAt })
export const skip: Projected<never> = { outcome: 'skip', reason: 'no_correlation_key' }
export const deadLetter = (reason: DeadLetterReason, message: string): DeadLetter => ({
  outcome: 'deadLetter',
  reason,
  message,
})
