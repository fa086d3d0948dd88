import type { Entry } from '../flow-layout/types.ts'
import { GATEWAY_PLACEHOLDER, KEY_PLACEHOLDER } from './placeholders.ts'

/** Longer bodies do not fit into one argument of a command on Linux (128 KiB). */
const ARGUMENT_MAX = 60_000

/** A text as one word of a POSIX shell, whatever it holds. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The command that sends the entry again, as a new one with the time of its receipt. */
export function curlOf(entry: Entry): string {
  const [path, body] = requestOf(entry)
  return curlTo(`/api/${path}`, JSON.stringify(body))
}

/** The command that posts this JSON to a path of the gateway. */
export function curlTo(path: string, body: string): string {
  const json = pasteable(body)
  const head = [
    `curl ${shellQuote(GATEWAY_PLACEHOLDER + path)}`,
    `-H ${shellQuote(`X-API-Key: ${KEY_PLACEHOLDER}`)}`,
    `-H ${shellQuote('Content-Type: application/json')}`,
  ]
  const data =
    json.length <= ARGUMENT_MAX
      ? `--data-raw ${shellQuote(json)}`
      : `--data-binary @- <<'END_OF_ENTRY'\n${json}\nEND_OF_ENTRY`
  return [...head, data].join(' \\\n  ')
}

function requestOf(entry: Entry): readonly [path: string, body: object] {
  const { correlationKey, environment } = entry
  if (entry.kind === 'event') {
    const uniqueIdentifier = entry.step?.identifier ?? entry.event?.identifier
    return [
      'ExternalLogs',
      { uniqueIdentifier, payload: entry.payload, level: entry.level, correlationKey, environment },
    ]
  }
  const { project, categoryName, eventId, eventName, message, level, exception, scopeData } = entry
  const fields = { categoryName, eventId, eventName, message, level, exception, scopeData, correlationKey, environment }
  return ['ApplicationLogs', { uniqueIdentifier: project.id, ...fields }]
}

/** What a terminal would obey or a reader could not see goes as an escape of JSON, so that the command pastes as it looks. */
const pasteable = (json: string): string =>
  json.replace(
    /[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
