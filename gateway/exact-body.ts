import { parseExactly, unlessTooDeep } from '../shared/contract/exact-json.ts'
import type { Received } from './received.ts'

/**
 * The body of a request, parsed anew with every number as it was written. One that is nested thousands of levels deep cannot be
 * parsed this way; it stays as it is.
 */
export const exactBodyOf = ({ text, json }: Received): unknown => unlessTooDeep(() => parseExactly(text), json)
