import type { ApplicationLogRecord } from '../contract/records.ts'
import { masked, shortened } from './mask.ts'

/** The names under which loggers send the template of a message: .NET's, CLEF's, and Serilog's in JSON and in OpenTelemetry. */
const NAMES = ['{OriginalFormat}', '@mt', 'MessageTemplate', 'message_template.text'] as const
/** The object in which .NET's JSON console writes its template. */
const STATE = 'State'

/** A longer text is not taken as a template. */
const TEMPLATE_LENGTH_MAX = 4_096
/**
 * The most comparisons of characters by which the texts of all templates are sought in a message, 20 ms at worst: a search can take the
 * product of both lengths, which the sender chooses.
 */
const SEEK_MAX = 2 ** 26
/** Doubled braces are literal. */
const HOLE = /(?<!\{)\{[^{}]*\}/
const BRACES = /([{}])\1/g

type Message = Pick<ApplicationLogRecord, 'message' | 'scopeData'>

/**
 * The template of an application log's message: the sender's own if the message can have been made from it, else the message with its
 * variable parts masked. A template whose long texts would have to be sought in a long message is not taken. Null if there is no text.
 */
export function templateOf({ message, scopeData }: Message): string | null {
  const room = { steps: SEEK_MAX }
  const own = candidates(scopeData).find((one) => fits(one, message, room))
  return (own === undefined ? masked(message) : shortened(own)) || null
}

function candidates(scope: ApplicationLogRecord['scopeData']): readonly string[] {
  if (scope === null) return []
  const state = scope[STATE]
  const places =
    typeof state === 'object' && state !== null ? [scope, state as Readonly<Record<string, unknown>>] : [scope]
  return places
    .flatMap((members) => NAMES.map((name) => (Object.hasOwn(members, name) ? members[name] : undefined)))
    .filter((text) => typeof text === 'string')
    .filter((text) => text !== '' && text.length <= TEMPLATE_LENGTH_MAX)
}

/** Whether the text between the template's holes is in the message: scopes have templates of their own under the same names. */
function fits(template: string, message: string, room: { steps: number }): boolean {
  const [first = '', ...others] = template.split(HOLE).map((text) => text.replaceAll(BRACES, '$1'))
  if (!message.startsWith(first)) return false
  const last = others.pop()
  if (last === undefined) return message.length === first.length
  let end = first.length
  for (const text of others) {
    room.steps -= text.length * (message.length - end)
    if (room.steps < 0) return false
    const at = message.indexOf(text, end)
    if (at === -1) return false
    end = at + text.length
  }
  return message.length - last.length >= end && message.endsWith(last)
}
