import { parseTimestamp } from '../../shared/contract/timestamp.ts'
import type { Cursor, FlowCursor, TailCursor } from '../../shared/log-store/log-store.ts'
import { invalidParameters } from './problems.ts'

/**
 * Cursors are opaque to clients: base64url of a JSON array whose first element says what the cursor is for, so that one
 * taken from another list, or from a list in the other order, is refused rather than answered with a wrong page.
 */
type Purpose = 'asc' | 'desc' | 'flows' | 'tail'

const encode = (purpose: Purpose, ...parts: readonly string[]): string =>
  Buffer.from(JSON.stringify([purpose, ...parts])).toString('base64url')

export const encodeCursor = (order: 'asc' | 'desc', { timestamp, id }: Cursor): string => encode(order, timestamp, id)

export const encodeFlowCursor = ({ lastAt, correlationKey }: FlowCursor): string =>
  encode('flows', lastAt, correlationKey)

/** An SSE event id: the log store's own place, wrapped so that it cannot break the line it is sent on. */
export const encodeTailCursor = (cursor: TailCursor): string => encode('tail', cursor)

/** The place of a cursor text; null for none. Throws an `invalid_request` for one that was not given out in this order. */
export function decodeCursor(order: 'asc' | 'desc', text: string | null): Cursor | null {
  if (text === null) return null
  const [timestamp = '', id = ''] = decode(text, order, 2, 'cursor', `the nextCursor of a page in order ${order}`)
  return { timestamp: canonical(timestamp), id }
}

/** As `decodeCursor`, for the list of flows. */
export function decodeFlowCursor(text: string | null): FlowCursor | null {
  if (text === null) return null
  const [lastAt = '', correlationKey = ''] = decode(text, 'flows', 2, 'cursor', 'the nextCursor of a page of flows')
  return { lastAt: canonical(lastAt), correlationKey }
}

/** As `decodeCursor`, for the id of an SSE event. */
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
  if (parseTimestamp(timestamp) !== timestamp)
    throw invalidParameters([{ path: 'cursor', message: 'must be the nextCursor of a page' }])
  return timestamp
}
