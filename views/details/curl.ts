import type { Entry } from '../schemas/answers.ts'
import { GATEWAY_PLACEHOLDER, KEY_PLACEHOLDER } from './placeholders.ts'

/** Linux's limit for one command argument (MAX_ARG_STRLEN, 128 KiB), without the terminating NUL. */
const ARGUMENT_BYTES_MAX = 128 * 1024 - 1

/** Characters that a terminal would interpret or a reader could not see: control and format characters, and line separators. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' }

/**
 * Quotes a text without NUL as one word for bash, zsh and any shell of POSIX.1-2024, safe to paste into a terminal: invisible characters
 * are escaped byte by byte in `$'…'`. Older shells can only read words of visible characters.
 */
export function shellWord(text: string): string {
  if (text.search(UNSEEN) === -1) return `'${text.replaceAll("'", "'\\''")}'`
  // A backslash-escaped quotation mark and an exclamation mark each have a meaning in some line editor, so both are escaped numerically.
  return `$'${text.replaceAll(/['!\\]/g, escaped).replaceAll(UNSEEN, escaped)}'`
}

const escaped = (character: string): string =>
  NAMED[character] ??
  (character < '\x80' ? octal(character.charCodeAt(0)) : Array.from(Buffer.from(character), octal).join(''))

const octal = (byte: number): string => `\\${byte.toString(8).padStart(3, '0')}`

/** The command that sends the entry again as a new one, timestamped on receipt; null if it is too long for a command. */
export function curlOf(entry: Entry): string | null {
  const [path, body] = requestOf(entry)
  const json = JSON.stringify(body)
  // JSON has its own escapes, which every shell leaves as they are.
  return isArgument(json) ? curlTo(`/api/${path}`, json.replaceAll(UNSEEN, jsonEscaped)) : null
}

const jsonEscaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** Whether it fits into one command argument. */
const isArgument = (text: string): boolean => !text.includes('\0') && Buffer.byteLength(text) <= ARGUMENT_BYTES_MAX

/** The command that posts this body to a path of the gateway; null if the body does not fit into one argument. */
export function curlTo(path: string, body: string): string | null {
  if (!isArgument(body)) return null
  return [
    `curl ${shellWord(GATEWAY_PLACEHOLDER + path)}`,
    `-H ${shellWord(`X-API-Key: ${KEY_PLACEHOLDER}`)}`,
    `-H ${shellWord('Content-Type: application/json')}`,
    `--data-raw ${shellWord(body)}`,
  ].join(' \\\n  ')
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
