import type { Entry } from '../schemas/answers.ts'
import { GATEWAY_PLACEHOLDER, KEY_PLACEHOLDER } from './placeholders.ts'

/** The most that Linux takes as one argument of a command (MAX_ARG_STRLEN, 128 KiB), less the zero at its end. */
const ARGUMENT_BYTES_MAX = 128 * 1024 - 1

/** Characters that a terminal would obey, or a reader could not see: control and format characters, and ends of lines. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' }

/**
 * A text without a zero as one word of bash, zsh and any shell of POSIX.1-2024, of which a terminal obeys nothing when it is pasted:
 * what cannot be seen goes into `$'…'` by its bytes. Shells before that standard read words of visible characters alone.
 */
export function shellWord(text: string): string {
  if (text.search(UNSEEN) === -1) return `'${text.replaceAll("'", "'\\''")}'`
  // A quotation mark that is escaped by a backslash, and an exclamation mark, would each mean something to some line editor.
  return `$'${text.replaceAll(/['!\\]/g, escaped).replaceAll(UNSEEN, escaped)}'`
}

const escaped = (character: string): string =>
  NAMED[character] ??
  (character < '\x80' ? octal(character.charCodeAt(0)) : Array.from(Buffer.from(character), octal).join(''))

const octal = (byte: number): string => `\\${byte.toString(8).padStart(3, '0')}`

/** The command that sends the entry again, as a new one with the time of its receipt; null where it is too long for one. */
export function curlOf(entry: Entry): string | null {
  const [path, body] = requestOf(entry)
  const json = JSON.stringify(body)
  // In JSON there is an escape that every shell leaves as it is.
  return isArgument(json) ? curlTo(`/api/${path}`, json.replaceAll(UNSEEN, jsonEscaped)) : null
}

const jsonEscaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** Whether a command can hold it as one argument. */
const isArgument = (text: string): boolean => !text.includes('\0') && Buffer.byteLength(text) <= ARGUMENT_BYTES_MAX

/** The command that posts this body to a path of the gateway; null where no argument of a command can hold it. */
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
