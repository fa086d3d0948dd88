import { arrayOf, component, described, flag, objectOf, type Static, text } from './contract/json-schema.ts'

/** One exception in a text, as the read API returns it. */
export const PARSED_EXCEPTION = component('ParsedException', {
  depth: described({ type: 'integer', minimum: 0 } as const, 'The number of exceptions around it.'),
  type: described(text, 'Empty where the text does not begin with a type.'),
  message: text,
  frames: arrayOf(
    objectOf({
      call: described(text, 'The call; empty where only the place is given.'),
      place: described(text, 'File and line, or empty.'),
      note: described(text, "Lines below it that are not frames, such as Python's source line."),
      framework: described(flag, 'Of a runtime, a framework or a library.'),
      firstOwn: described(flag, "The exception's first frame of the program itself."),
    }),
  ),
  omitted: described(text, 'The note of the trace about frames that it leaves out, such as `... 12 more`; else empty.'),
})
export type ParsedException = Static<typeof PARSED_EXCEPTION>
export type Frame = ParsedException['frames'][number]

/** Further lines are not read; the whole text can always be shown and copied. */
export const LINES_MAX = 5_000
/** Characters of a line that are enough to classify it. */
const LOOKED_AT = 500

const FRAMEWORK_CALL =
  /^(?:async )?(?:System|Microsoft|MS|Grpc|Npgsql|Polly|Serilog|Castle|MediatR|Newtonsoft|java|javax|jakarta|jdk|sun|com\.sun|kotlin|kotlinx|scala|reactor|io\.netty|io\.grpc|org\.(?:spring\w*|apache|hibernate|junit|jboss|eclipse|gradle))\./
const FRAMEWORK_PLACE =
  /^node:|^internal[\\/]|[\\/](?:node_modules|site-packages|dist-packages|lib[\\/]python[\d.]+)[\\/]|^</

const TYPE = /^[\p{L}_$][\p{L}\p{N}_$.`+<>[\],/-]*(?: \(\w{1,20}\))?$/u
const TYPE_ALONE = /[.]|Exception|Error/
const BEFORE_TYPE = /^(?:Exception in thread "[^"]{0,200}" |Unhandled exception\. |Uncaught )/
const INNER = /^---> ?(?:\(Inner Exception #\d+\) )?/
const CAUSED_BY = /^(Caused by|Suppressed|\[cause\]): /
const OMITTED = /^\.\.\. \d+ /
const END_OF_INNER = '--- End of inner exception stack trace ---'
const ASYNC_JOINT = '--- End of stack trace from previous location'
const FRAME = /^at (?:.*\(|.*:\d+(?: \{)?$)/s
const PLACE = /:\d+$|^node:|^Native Method$|^Unknown Source$|^<anonymous>$/
const PYTHON_HEAD = 'Traceback (most recent call last):'
const PYTHON_FRAME = /^File "([^"]{0,400})", line (\d+)(?:, in (.*))?$/
const PYTHON_JOINT = /^(?:The above exception was the direct cause|During handling of the above exception)/

interface Draft {
  readonly depth: number
  /** Whitespace before its first line: in Java's traces it tells to which exception a cause belongs. */
  readonly indent: number
  type: string
  message: string
  frames: Frame[]
  omitted: string
}

/**
 * Reads the text of an exception as .NET, Java, JavaScript and Python write it, in time proportional to its length. Any other text becomes
 * one exception without a type, with the text as its message.
 */
export function parseException(text: string): readonly ParsedException[] {
  const lines = text
    .trim()
    .split('\n', LINES_MAX)
    .map((line) => line.trimEnd())
  const drafts = lines.includes(PYTHON_HEAD) ? readPython(lines) : readOutermostFirst(lines)
  return drafts.map(finished)
}

/** .NET, Java and JavaScript. In .NET's text, the frames of inner exceptions come before those of outer ones. */
function readOutermostFirst(lines: readonly string[]): readonly Draft[] {
  const [first = '', ...others] = lines
  const outermost = draft(0, 0)
  const drafts = [outermost]
  /** The exceptions that further lines may belong to, the innermost last. */
  const open = [outermost]
  const current = (): Draft => open.at(-1) ?? outermost
  const begin = (indent: number, head: string): void => {
    const inner = draft(current().depth + 1, indent)
    readHead(inner, head)
    drafts.push(inner)
    open.push(inner)
  }
  if (isFrame(first.trim())) addLine(outermost, first)
  else readHead(outermost, first)
  for (const whole of others) {
    const closes = whole.endsWith('<---')
    const line = closes ? whole.slice(0, -4) : whole
    const look = line.trimStart()
    const indent = line.length - look.length
    const cause = CAUSED_BY.exec(look.slice(0, LOOKED_AT))
    if (look.startsWith('--->')) begin(0, look.replace(INNER, ''))
    else if (cause !== null) {
      while (open.length > 1 && isOver(current(), indent, cause[1] === 'Caused by')) open.pop()
      begin(indent, look.slice(cause[0].length))
    } else if (look !== END_OF_INNER && !look.startsWith(ASYNC_JOINT)) addLine(current(), line)
    if ((closes || look === END_OF_INNER) && open.length > 1) open.pop()
  }
  return drafts
}

/** Whether a cause with this indent belongs to an outer exception: a `Caused by` has the same indent, other causes a smaller one. */
const isOver = (one: Draft, indent: number, sameIndent: boolean): boolean =>
  one.indent > indent || (one.indent === indent && !sameIndent)

function addLine(current: Draft, line: string): void {
  const look = line.trimStart()
  if (OMITTED.test(look)) current.omitted = look
  else if (isFrame(look)) current.frames.push(frameOf(look))
  else if (current.frames.length === 0) current.message += `\n${line}`
  else if (look !== '' && look !== '}') addNote(current, look)
}

function addNote(current: Draft, text: string): void {
  const last = current.frames.at(-1)
  if (last !== undefined)
    current.frames.splice(-1, 1, { ...last, note: last.note === '' ? text : `${last.note}\n${text}` })
}

const isFrame = (look: string): boolean => look.startsWith('at ') && FRAME.test(look.slice(0, LOOKED_AT))

/** Python: frames come before their exception, the innermost last; the exceptions that caused it come before both. */
function readPython(lines: readonly string[]): readonly Draft[] {
  const drafts: Draft[] = []
  let inFrames = false
  for (const line of lines) {
    const look = line.trimStart()
    const current = drafts.at(-1)
    const python = PYTHON_FRAME.exec(look.slice(0, LOOKED_AT))
    if (look === PYTHON_HEAD) {
      drafts.push(draft(0, 0))
      inFrames = true
    } else if (current === undefined || PYTHON_JOINT.test(look)) continue
    else if (inFrames && python !== null) {
      const [, file = '', row = '', call = '<module>'] = python
      current.frames.push(frame(call, `${file}:${row}`))
    } else if (!inFrames) current.message += `\n${line}`
    else if (line !== look) addNote(current, look)
    else {
      readHead(current, line)
      inFrames = false
    }
  }
  return drafts.toReversed().map((one, depth) => ({ ...one, depth, frames: one.frames.toReversed() }))
}

const draft = (depth: number, indent: number): Draft => ({
  depth,
  indent,
  type: '',
  message: '',
  frames: [],
  omitted: '',
})

/** `Type: message`, `Type`, or a message alone. */
function readHead(one: Draft, line: string): void {
  const head = line.trim().replace(BEFORE_TYPE, '')
  const colon = head.slice(0, LOOKED_AT).search(/:(?:\s|$)/)
  const type = colon === -1 ? head : head.slice(0, colon)
  const isType = type.length <= LOOKED_AT && TYPE.test(type) && (colon !== -1 || TYPE_ALONE.test(type))
  one.type = isType ? type : ''
  one.message = isType ? head.slice(type.length + 1).trimStart() : head
}

function frameOf(look: string): Frame {
  const call = look.slice(3).replace(/ \{$/, '')
  const file = call.lastIndexOf(' in ')
  const row = call.lastIndexOf(':line ')
  if (file !== -1 && row > file) return frame(call.slice(0, file), call.slice(file + 4).replace(':line ', ':'))
  const open = call.lastIndexOf('(')
  const place = call.endsWith(')') ? call.slice(open + 1, -1) : ''
  // `(Invoices.java:12)` and `(/src/app.js:3:7)` are places; `(String name)` are parameters.
  if (PLACE.test(place.slice(-LOOKED_AT))) return frame(call.slice(0, open).trimEnd(), place)
  return call.includes('(') ? frame(call, '') : frame('', call)
}

const frame = (call: string, place: string): Frame => ({
  call,
  place,
  note: '',
  framework: FRAMEWORK_CALL.test(call.slice(0, LOOKED_AT)) || FRAMEWORK_PLACE.test(place.slice(0, LOOKED_AT)),
  firstOwn: false,
})

function finished({ depth, type, message, frames, omitted }: Draft): ParsedException {
  const first = frames.findIndex(({ framework }) => !framework)
  const marked = frames.map((each, index) => (index === first ? { ...each, firstOwn: true } : each))
  return { depth, type, message: message.trim(), frames: marked, omitted }
}
