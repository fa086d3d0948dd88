import { parseExactly } from '../shared/contract/exact-json.ts'
import type { Received } from './received.ts'

/**
 * The body of a request, parsed anew with every number as it was written. One that is nested thousands of levels deep cannot be
 * parsed this way; it stays as it is.
 */
export function exactBodyOf({ text, json }: Received): unknown {
  try {
    return parseExactly(text)
  } catch (error) {
    if (error instanceof RangeError) return json
    throw error
  }
}
