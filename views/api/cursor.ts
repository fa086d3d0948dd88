import { parseTimestamp, timestampOf } from '../../shared/contract/timestamp.ts'
import type { Cursor, FlowCursor, FlowSort, TailCursor } from '../../shared/log-store/log-store.ts'
import { invalidParameters } from './problems.ts'

/**
 * Cursors are opaque to clients: base64url of a JSON array whose first element names the cursor's purpose, so that a cursor from another
 * list, or from a list in the other order, is refused rather than answered with a wrong page.
 */
type Purpose = 'asc' | 'desc' | FlowSort | 'tail'

const encode = (purpose: Purpose, ...parts: readonly string[]): string =>
  Buffer.from(JSON.stringify([purpose, ...parts])).toString('base64url')

export const encodeCursor = (order: 'asc' | 'desc', { timestamp, id }: Cursor): string => encode(order, timestamp, id)

/** `now` is the time at which the first page's states were determined, in milliseconds since 1970. */
export const encodeFlowCursor = (sort: FlowSort, now: number, { rank, lastAt, correlationKey }: FlowCursor): string =>
  encode(sort, timestampOf(now), String(rank), lastAt, correlationKey)

/** An SSE event id: the log store's own position, encoded so that it cannot break the line it is sent on. */
export const encodeTailCursor = (cursor: TailCursor): string => encode('tail', cursor)

/** Decodes a cursor; null for none. Throws an `invalid_request` for one that was not issued for this order. */
export function decodeCursor(order: 'asc' | 'desc', text: string | null): Cursor | null {
  if (text === null) return null
  const [timestamp = '', id = ''] = decode(text, order, 2, 'cursor', `the nextCursor of a page in order ${order}`)
  return { timestamp: canonical(timestamp), id }
}

/** Decodes the cursor of a list of flows with this sort order; null and errors as in `decodeCursor`. */
export function decodeFlowCursor(
  sort: FlowSort,
  text: string | null,
): { readonly now: number; readonly after: FlowCursor } | null {
  if (text === null) return null
  const expected = `the nextCursor of a page of flows sorted by ${sort}`
  const [now = '', rank = '', lastAt = '', correlationKey = ''] = decode(text, sort, 4, 'cursor', expected)
  return {
    now: Date.parse(canonical(now)),
    after: { rank: wholeNumber(rank), lastAt: canonical(lastAt), correlationKey },
  }
}

/** Decodes the id of an SSE event; null and errors as in `decodeCursor`. */
export function decodeTailCursor(text: string | null): TailCursor | null {
  if (text === null) return null
  const [cursor = ''] = decode(text, 'tail', 1, 'lastEventId', 'the id of an event of a tail')
  return cursor
}

function decode(text: string, purpose: Purpose, length: number, path: string, expected: string): readonly string[] {
  const [found, ...parts] = elements(text)
  const fits = found === purpose && parts.length === length && parts.every((part) => typeof part === 'string')
  if (!fits) throw invalidParameters([{ path, message: `must be ${expected}` }])
  return parts as string[]
}

function elements(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

function canonical(timestamp: string): string {
  if (parseTimestamp(timestamp) !== timestamp) throw NO_CURSOR()
  return timestamp
}

/** No number in a cursor has more than 13 digits: the milliseconds between two timestamps. */
function wholeNumber(text: string): number {
  if (!/^\d{1,13}$/.test(text)) throw NO_CURSOR()
  return Number(text)
}

const NO_CURSOR = () => invalidParameters([{ path: 'cursor', message: 'must be the nextCursor of a page' }])
