import { LINES_MAX, parseException } from '../../shared/exception.ts'
import { LEAF_PATH_LENGTH_MAX } from '../../shared/query/leaves.ts'
import { printTerm } from '../../shared/query/term.ts'
import type { ApplicationLog, Entry, EntryDetails, NamedValue } from '../schemas/answers.ts'
import { type Allowance, createAllowance, TEXT_MAX } from './allowance.ts'
import { curlOf } from './curl.ts'
import { isJson, type JsonField, jsonFields, prettyJson } from './json-text.ts'
import { mergedScopes, type Scope, SENTENCE_MAX, scopeStack } from './scopes.ts'

/** A named value before its name and text are cut. */
type WholeValue = Omit<NamedValue, 'cut'>

/** Maximum characters of a field; only an unrecognised level can be longer. */
const FIELD_MAX = 4_096
/** Maximum number of values listed for a payload or for all scopes. */
const VALUES_MAX = 300

/** The values, scopes and exception in an entry's texts, with the searches that find similar entries. */
export function detailsOf(entry: Entry): EntryDetails {
  const allowance = createAllowance()
  const { payload, scopeData, exception } =
    entry.kind === 'event' ? { ...entry, scopeData: null, exception: null } : { ...entry, payload: '' }
  return {
    fields: allowance.list(fieldsOf(entry), (field) => shownValue(field, allowance, FIELD_MAX)),
    payload: isJson(payload) ? payloadOf(payload, allowance) : null,
    scopes: scopeData === null ? null : scopesOf(scopeData, allowance),
    exception: exception === null ? null : exceptionOf(exception, allowance),
    curl: curlOf(entry),
  }
}

function payloadOf(payload: string, allowance: Allowance): EntryDetails['payload'] {
  const isCut = allowance.watch()
  const { fields, more } = jsonFields(payload, VALUES_MAX)
  const text = allowance.text(prettyJson(payload, TEXT_MAX))
  const values = allowance.list(fields, (field) => shownValue(namedValue(field, 'payload'), allowance))
  return { text, values, more: more || isCut() }
}

function scopesOf(data: NonNullable<ApplicationLog['scopeData']>, allowance: Allowance): EntryDetails['scopes'] {
  const isCut = allowance.watch()
  const { scopes, more } = scopeStack(data)
  const isStack = scopes.length > 1 || scopes.some(({ text }) => text !== '')
  const stack = allowance.list(isStack ? scopes : [], (scope) => allowance.text(sentenceOf(scope), SENTENCE_MAX))
  const values = allowance.list(
    mergedScopes(scopes),
    ({ hidden, within, ...field }) => ({
      ...shownValue(namedValue(field, within === '' ? 'scope' : `scope.${within}`), allowance),
      hidden: allowance.list(hidden, (text) => allowance.text(text)),
    }),
    VALUES_MAX,
  )
  return { stack, values, more: more || isCut() }
}

/** A scope without a sentence is described by its values. */
function sentenceOf({ text, fields }: Scope): string {
  if (text !== '') return text
  let sentence = ''
  for (const { path, text } of fields) {
    if (sentence.length > SENTENCE_MAX) break
    sentence += `${sentence === '' ? '' : '  '}${path}=${text}`
  }
  return sentence
}

function exceptionOf(exception: string, allowance: Allowance): EntryDetails['exception'] {
  const isCut = allowance.watch()
  const parts = allowance.list(parseException(exception), ({ depth, type, message, frames, omitted }) => ({
    depth,
    type: allowance.text(type),
    message: allowance.text(message),
    frames: allowance.list(frames, ({ call, place, note, ...marks }) => ({
      call: allowance.text(call),
      place: allowance.text(place),
      note: allowance.text(note),
      ...marks,
    })),
    omitted: allowance.text(omitted),
  }))
  return { parts, more: exception.split('\n', LINES_MAX + 1).length > LINES_MAX || isCut() }
}

const namedValue = ({ path, text, value }: JsonField, family: string): WholeValue => ({
  name: path === '' ? '·' : path,
  text,
  term: value === null ? null : printTerm({ field: `${family}.${path}`, value }),
})

function shownValue(whole: WholeValue, allowance: Allowance, textMax?: number): NamedValue {
  const isCut = allowance.watch()
  const name = allowance.text(whole.name, LEAF_PATH_LENGTH_MAX)
  const text = allowance.text(whole.text, textMax)
  const cut = isCut()
  // A truncated search would be a different search.
  const term = allowance.text(whole.term ?? '')
  return { name, text, cut, term: term === whole.term ? term : null }
}

/** The entry's own fields, apart from its payload and scopes; those without a value are omitted. */
function fieldsOf(entry: Entry): readonly WholeValue[] {
  const { level, environment, correlationKey } = entry
  const fields: (WholeValue | undefined)[] = [
    field('level', level),
    field('environment', environment),
    correlationKey === null ? undefined : field('correlationKey', correlationKey),
    ...(entry.kind === 'event'
      ? [reference('event', entry.event), reference('step', entry.step)]
      : [
          reference('project', { identifier: entry.project.id, name: entry.project.name }),
          field('category', entry.categoryName),
          entry.eventId === 0 ? undefined : field('eventId', String(entry.eventId)),
          entry.eventName === '' ? undefined : field('eventName', entry.eventName),
          entry.originalLevel === undefined
            ? undefined
            : { name: 'originalLevel', text: entry.originalLevel, term: null },
        ]),
    { name: 'timestamp', text: entry.timestamp, term: null },
    { name: 'receivedAt', text: entry.receivedAt, term: null },
    field('id', entry.id),
  ]
  return fields.filter((one) => one !== undefined)
}

const field = (name: string, value: string, text = value): WholeValue => ({
  name,
  text,
  term: value === '' ? null : printTerm({ field: name, value }),
})

function reference(
  name: string,
  of: { readonly identifier: string; readonly name: string | null } | null,
): WholeValue | undefined {
  if (of === null) return undefined
  const { identifier } = of
  return field(name, identifier, of.name === null || of.name === identifier ? identifier : `${of.name} (${identifier})`)
}
