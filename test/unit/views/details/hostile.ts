import type { Entry } from '../../../../views/schemas/answers.ts'
import { applicationEntry, eventEntry } from './entries.ts'

/** About as much as an entry may hold, less what else it has. */
const SIZE = 990_000

const repeated = (text: string, bytes = SIZE): string => text.repeat(Math.floor(bytes / text.length))

const many = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index))

const keyed = (count: number, value: (index: number) => unknown): Readonly<Record<string, unknown>> =>
  Object.fromEntries(many(count, (index) => [`k${index}`, value(index)]))

const scopes = (data: Readonly<Record<string, unknown>>): Entry => applicationEntry({ scopeData: data })
const payload = (text: string): Entry => eventEntry({ payload: text })
const exception = (text: string): Entry => applicationEntry({ exception: text })

const filledBy = (hole: string, holes: number, value: unknown) => ({
  '{OriginalFormat}': hole.repeat(holes),
  a: value,
})

const deep = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth)

/** JSON with an object so deep, which JSON.parse reads and a recursive reader does not. */
const nested = (depth: number): Readonly<Record<string, unknown>> =>
  JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)

/** Entries of about the largest size that is accepted, each of which makes a reader that is not bounded repeat or seek too much. */
export const HOSTILE: Readonly<Record<string, () => Entry>> = {
  'templates of holes': () => scopes({ Scopes: many(12, () => filledBy('{a}', 13_000, 'x'.repeat(38_000))) }),
  'one template of holes': () => scopes(filledBy('{a}', 160_000, 'x'.repeat(450_000))),
  'a template of holes for an object': () =>
    scopes({
      Scopes: many(4, () =>
        filledBy(
          '{a}',
          40_000,
          keyed(8_000, () => 1),
        ),
      ),
    }),
  'holes without an end': () => scopes({ Scopes: [{ '{OriginalFormat}': repeated('{a,,,,,,,,,,'), a: 1 }] }),
  'open braces': () => scopes({ Scopes: [{ '{OriginalFormat}': repeated('{'), a: 1 }] }),
  'names without an end': () => scopes({ Scopes: [{ '{OriginalFormat}': `{${repeated('a')}`, a: 1 }] }),
  '40,000 scopes of one name': () => scopes({ Scopes: many(40_000, (index) => ({ a: index })) }),
  '40,000 scopes of many names': () => scopes({ Scopes: many(40_000, (index) => ({ [`k${index}`]: 1 })) }),
  'scopes that are texts': () => scopes({ Scopes: many(200_000, () => 'a') }),
  'scopes that are long texts': () => scopes({ Scopes: many(10, () => 'x'.repeat(98_000)) }),
  'numbered scopes': () => scopes(Object.fromEntries(many(70_000, (index) => [index, { a: 1 }]))),
  'one scope of 100,000 names': () => scopes(keyed(60_000, (index) => index)),
  'scopes with the same values again and again': () =>
    scopes({ Scopes: many(4_000, () => Object.fromEntries(many(10, (name) => [`name${name}`, 'value'.repeat(3)]))) }),
  'one name many times in a scope': () => scopes({ Scopes: [{ a: many(400_000, () => 1) }] }),
  'a long name with 300 values below, in scopes': () =>
    scopes({ Scopes: [{ ['k'.repeat(900_000)]: keyed(300, () => 1) }] }),
  'a deep scope': () => scopes(nested(4_000)),
  'a long name with 300 values below': () => payload(JSON.stringify({ ['k'.repeat(900_000)]: keyed(300, () => 1) })),
  'long names inside each other': () =>
    payload(
      `${many(20, () => `{"${'k'.repeat(45_000)}":`).join('')}${JSON.stringify(keyed(300, () => 1))}${'}'.repeat(20)}`,
    ),
  'one name with 900,000 characters to escape': () =>
    payload(JSON.stringify({ [repeated('\\', 450_000)]: keyed(300, () => 1) })),
  'a deep payload': () => payload(deep('[', ']', 490_000)),
  'deep objects': () => payload(`${'{"a":'.repeat(160_000)}1${'}'.repeat(160_000)}`),
  'a payload of many values': () => payload(JSON.stringify(many(490_000, () => 1))),
  'a payload of many long values': () => payload(JSON.stringify(many(100, () => 'x'.repeat(9_800)))),
  'a payload of one value': () => payload(JSON.stringify({ a: repeated('"', 490_000) })),
  'a payload of one number': () => payload(`{"a":${repeated('9')}}`),
  'a payload of blanks': () => payload(`{${repeated(' ')}}`),
  'blanks that are no JSON': () => payload(`${repeated(' ')}x`),
  'a payload of control characters': () => payload(JSON.stringify({ a: repeated('\u0001', 160_000) })),
  'brackets that are no JSON': () => payload(repeated('[')),
  'a quotation mark without end': () => payload(`{"a":"${repeated('\\\\')}`),
  'a payload of holes': () => payload(repeated("'")),
  'exceptions that caused exceptions': () => exception(repeated('a\n---> ')),
  'exceptions of nothing': () => exception(repeated('--->\n')),
  'suppressed exceptions': () =>
    exception(many(5_000, (index) => `${' '.repeat(index % 200)}Suppressed: a`).join('\n')),
  'causes further and further in': () =>
    exception(many(1_400, (index) => `${' '.repeat(index)}Caused by: a`).join('\n')),
  'frames without end': () => exception(`A.B: c\n${repeated('at a()\n')}`),
  'long frames': () => exception(`A.B: c\n${many(100, () => `at ${'a('.repeat(4_900)})`).join('\n')}`),
  'one line': () => exception('x'.repeat(SIZE)),
  'one line of a frame': () => exception(`at ${repeated('a(')}:1)`),
  'one line of a type': () => exception(`${repeated('A.')}: c`),
  'one line of blanks': () => exception(`A: b\nc${repeated(' ')}x`),
  'many blank lines': () => exception(`A: b${repeated('\n')}c`),
  'lines of blanks': () => exception(`A: b\n${many(990, () => `${' '.repeat(999)}x`).join('\n')}`),
  'messages of many lines': () => exception(repeated('message of a line\n')),
  'notes at one frame': () => exception(`A: b\nat a()\n${repeated('note\n')}`),
  'long notes at one frame': () => exception(`A: b\nat a()\n${many(4_900, () => 'n'.repeat(200)).join('\n')}`),
  'frames in Python': () =>
    exception(`Traceback (most recent call last):\n${repeated('  File "a", line 1, in b\n    c\n')}`),
  'tracebacks in Python': () => exception(repeated('Traceback (most recent call last):\nA: b\n')),
  'notes in Python': () => exception(`Traceback (most recent call last):\n  File "a", line 1\n${repeated('  n\n')}`),
  'carriage returns': () => exception(repeated('a\r')),
  'ends of inner exceptions': () => exception(repeated('---> a\n--- End of inner exception stack trace ---\n')),
  'threads in quotes': () => exception(`Exception in thread "${repeated('a')}`),
  aggregates: () => exception(repeated('---> (Inner Exception #1) A: b<---\n')),
  'numbers of omitted frames': () => exception(`A: b\n... ${repeated('1')}`),
  'many omitted frames': () => exception(`A: b\n${repeated('... 1 x\n')}`),
  'message of bidirectional marks': () => applicationEntry({ message: repeated('\u202e', 300_000) }),
  'message of quotation marks': () => applicationEntry({ message: repeated("'") }),
  'message of control characters': () => applicationEntry({ message: repeated('\u0007', 160_000) }),
  'a long category': () => applicationEntry({ categoryName: 'x'.repeat(4_096), eventName: '\u0001'.repeat(1_000) }),
}
