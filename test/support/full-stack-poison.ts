import type { DeadLetterReason } from '../../consumers/dead-letters.ts'
import type { NewRecord } from '../../shared/journal/journal.ts'

/** Invalid records that foreign producers may write to an entry topic, by their dead-letter reason. */
export const POISON = {
  empty_value: Buffer.alloc(0),
  not_utf8: Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
  invalid_json: '{"kind":',
  too_deep: `${'['.repeat(200)}${']'.repeat(200)}`,
  unknown_kind: '{"kind":"metric"}',
  invalid_record: (kind: string) => `{"kind":"${kind}","id":"no guid"}`,
} as const satisfies Partial<Record<DeadLetterReason, unknown>>

/** One record of every kind of poison, and one with a null value. */
export const poisonOf = (kind: 'event' | 'application'): readonly NewRecord[] => [
  record(null),
  ...Object.values(POISON).map((value) => record(typeof value === 'function' ? value(kind) : value)),
]

/** This many records of one kind of poison. */
export const floodOf = (records: number): readonly NewRecord[] =>
  Array.from({ length: records }, () => record(POISON.invalid_json))

const record = (value: string | Uint8Array | null): NewRecord => ({
  key: 'poison',
  value,
  headers: { 'x-from': 'test' },
})
