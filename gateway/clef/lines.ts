import type { IncomingMessage } from 'node:http'
import { type Checked, type Problem, problem, refuse } from '../../shared/contract/errors.ts'
import { hasLostDigits, parseExactly } from '../../shared/contract/exact-json.ts'
import { type Body, decodeText, isLong, parseJson } from '../../shared/http/body.ts'
import { parseInPieces } from '../../shared/http/json-pieces.ts'
import { charsetProblem, codingProblem } from '../../shared/http/media-type.ts'
import type { Steps } from '../../shared/runtime/cooperative.ts'
import { FOREIGN_ENTRIES_MAX } from '../ingest/checks.ts'
import type { BodyFormat } from '../ingest/endpoint.ts'
import { type Fields, isObject, refuseNoObject } from '../ingest/fields.ts'
import { parametersOf } from '../ingest/request.ts'
import { fitsDepth } from '../schemas/keywords.ts'

/** One line of a body: its event, or why it has none. */
export interface Line {
  readonly text: string
  readonly event: Checked<Fields>
}

/** Scope data may be 64 levels deep, and an event is no deeper than its scope data. */
const EVENT_LEVELS_MAX = 64

const MEDIA_TYPE =
  /^(?:application\/(?:vnd\.serilog\.clef|json-lines|jsonlines|jsonl|x-jsonlines|x-ndjson|ndjson|json)|text\/plain)[ \t]*(?:;|$)/i
const PLAIN_JSON = /^application\/json[ \t]*(?:;|$)/i

const TYPES = 'Send application/vnd.serilog.clef, application/x-ndjson, application/json-lines or text/plain, in UTF-8.'

/** Serilog's compact log event format (CLEF): an event a line; at most `FOREIGN_ENTRIES_MAX` lines that are not blank. */
export const CLEF_FORMAT: BodyFormat = {
  refusal: mediaRefusal,
  decode: decodeText,
  parse: linesOf,
}

function mediaRefusal(request: IncomingMessage): Problem | undefined {
  const { headers } = request
  const type = headers['content-type'] ?? ''
  if (type !== '') {
    if (!MEDIA_TYPE.test(type)) return refusedType(`The content type is none that events are sent with. ${TYPES}`)
    // Before there was CLEF, Seq took another JSON on one of its paths, and told the two by the type or by this parameter.
    if (PLAIN_JSON.test(type) && isOlderPath(request) && !parametersOf(request).has('clef'))
      return refusedType(`Without ?clef, JSON here means the older format of Seq, which is not read. ${TYPES}`)
    const charset = charsetProblem(type)
    if (charset !== undefined) return charset
  }
  return codingProblem(headers)
}

const isOlderPath = ({ url = '' }: IncomingMessage): boolean => /\/raw\/?(?:\?|$)/i.test(url)

const refusedType = (message: string): Problem => ({ ...problem('unsupported_media_type'), message })

function* linesOf({ content: text, memory }: Body<string>): Steps<Checked<readonly Line[]>> {
  const lines: Line[] = []
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const line = text.slice(start, end).trim()
    start = end + 1
    if (line === '') continue
    if (lines.length === FOREIGN_ENTRIES_MAX) return refuse('batch_too_large', { limit: FOREIGN_ENTRIES_MAX })
    lines.push({ text: line, event: yield* eventOf(line, memory) })
    yield
  }
  return lines.length === 0 ? refuse('malformed_json', null, 'The body has no line with an event.') : { value: lines }
}

function* eventOf(line: string, memory: Body['memory']): Steps<Checked<Fields>> {
  const { value: event, problem: malformed } = isLong(line)
    ? yield* parseInPieces(line, memory)
    : parseJson(line, 'The line')
  if (malformed !== undefined) return { problem: malformed }
  if (!isObject(event)) return refuseNoObject()
  if (!fitsDepth(event, EVENT_LEVELS_MAX))
    return refuse('invalid_request', [{ path: '', message: `must be at most ${EVENT_LEVELS_MAX} levels deep` }])
  return { value: hasLostDigits(event) ? (parseExactly(line) as Fields) : event }
}
