import { parseExactly, unlessTooDeep } from '../shared/contract/exact-json.ts'
import { isLong } from '../shared/http/body.ts'
import type { Received } from './received.ts'

/**
 * The body of a request with every number as it was written: that of a short one is parsed anew. One that is nested thousands of
 * levels deep cannot be parsed this way; it stays as it is.
 */
export const exactBodyOf = ({ text, json }: Received): unknown =>
  isLong(text) ? json : unlessTooDeep(() => parseExactly(text), json)
