import { hasLostDigits, unlessTooDeep } from '../shared/contract/exact-json.ts'
import { exactBodyOf } from './exact-body.ts'
import type { Received } from './received.ts'

/** Finds the entries of a request, as they were sent, by their places. */
export type SentEntries = (received: Received) => (index: number) => unknown

/** Those of a body that is one JSON value: where JavaScript rounded a number of an entry, the body is read again, at most once. */
export const sentEntries =
  (entriesOf: (json: unknown) => readonly unknown[]): SentEntries =>
  (received) => {
    const entries = entriesOf(received.json)
    let exact: readonly unknown[] | undefined
    return (index) => {
      if (!isRounded(entries[index])) return entries[index]
      exact ??= entriesOf(exactBodyOf(received))
      return exact[index]
    }
  }

/** A refused entry may be nested deeper than can be looked through, and than could be read again. */
const isRounded = (entry: unknown): boolean => unlessTooDeep(() => hasLostDigits(entry), false)
