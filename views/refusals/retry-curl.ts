import { curlTo } from '../details/curl.ts'
import type { RefusalItem } from './list.ts'

const BATCH = '/api/ApplicationLogs/batch'

/** What is known of a refused entry. */
type Refused = Pick<RefusalItem, 'endpoint' | 'body' | 'bodyCut' | 'index' | 'identifier' | 'nearest'>

/**
 * The refused entry in a request of its own, with the nearest known identifier where there is one; null where not all of it is there:
 * it was cut, or is one of a batch of another form than ours.
 */
export function bodyToTry({ endpoint, body, bodyCut, index, identifier, nearest }: Refused): string | null {
  if (body === null || bodyCut || (index !== null && endpoint !== BATCH)) return null
  if (index !== null) return `{"uniqueIdentifier":${JSON.stringify(identifier)},"logEntries":[${body}]}`
  if (nearest === null || identifier === null) return body
  return withIdentifier(body, nearest.identifier)
}

/** A string of JSON, with the colon behind it where it is a name, or a bracket; all else has no structure. */
const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g

/** The text of an object with another `uniqueIdentifier`, and all else as it was written. */
function withIdentifier(body: string, identifier: string): string {
  let result = ''
  let copied = 0
  let depth = 0
  let name = ''
  for (const { 0: token, 1: text, 2: colon, index } of body.matchAll(TOKENS)) {
    if (text === undefined) depth += token === '{' || token === '[' ? 1 : -1
    else if (depth === 1 && colon !== undefined) name = JSON.parse(text)
    else if (depth === 1 && name === 'uniqueIdentifier') {
      result += body.slice(copied, index) + JSON.stringify(identifier)
      copied = index + text.length
    }
  }
  return result + body.slice(copied)
}

/** The command that tries again; null where there is nothing to send, or no command can hold it. */
export function curlToTry(refused: Refused): string | null {
  const body = bodyToTry(refused)
  return body === null ? null : curlTo(refused.endpoint, body)
}
