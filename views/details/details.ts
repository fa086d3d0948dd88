import type { EntryKind } from '../../shared/contract/records.ts'
import { successBody } from '../../shared/http/answer.ts'
import { printTerm } from '../../shared/query/term.ts'
import type { Answer } from '../api/call.ts'
import { entryOf } from '../api/entries.ts'
import { itemOf } from '../api/items.ts'
import type { ApplicationEntry, Entry } from '../flow-layout/types.ts'
import { curlOf } from './curl.ts'
import { LINES_MAX, parseException } from './exception.ts'
import { fieldsOf } from './fields.ts'
import { isJson, type JsonField, jsonFields, prettyJson } from './json-text.ts'
import { mergedScopes, scopeStack } from './scopes.ts'
import type { EntryDetails, NamedValue } from './types.ts'

/** The most values of a payload that are told; the whole of it stands in its text. */
const VALUES_MAX = 300
/** The most characters of a payload that are laid out, more or less. */
const TEXT_MAX = 200_000

/** What can be read from an entry: what its text holds, and what finds its like. */
export const detailsOfEntry =
  (kind: EntryKind): Answer =>
  async (call, tools) =>
    successBody(detailsOf(itemOf(await entryOf(kind, call, tools), call.names)))

export function detailsOf(entry: Entry): EntryDetails {
  const { payload, scopeData, exception } =
    entry.kind === 'event' ? { ...entry, scopeData: null, exception: null } : { ...entry, payload: '' }
  return {
    fields: fieldsOf(entry),
    payload: isJson(payload) ? payloadOf(payload) : null,
    scopes: scopeData === null ? null : scopesOf(scopeData),
    exception:
      exception === null
        ? null
        : { parts: parseException(exception), more: exception.split('\n', LINES_MAX + 1).length > LINES_MAX },
    curl: curlOf(entry),
  }
}

function payloadOf(text: string): EntryDetails['payload'] {
  const values = jsonFields(text, VALUES_MAX)
  return {
    text: prettyJson(text, TEXT_MAX).text,
    values: values.map((value) => namedValue(value, 'payload')),
    more: values.length === VALUES_MAX,
  }
}

function scopesOf(data: NonNullable<ApplicationEntry['scopeData']>): EntryDetails['scopes'] {
  const stack = scopeStack(data)
  const named = stack.length > 1 || stack.some(({ text }) => text !== '')
  return {
    stack: named
      ? stack.map(({ text, fields }) =>
          text === '' ? fields.map((one) => `${one.path}=${one.text}`).join('  ') : text,
        )
      : [],
    values: mergedScopes(stack).map(({ hidden, within, ...field }) => ({
      ...namedValue(field, within === '' ? 'scope' : `scope.${within}`),
      hidden,
    })),
  }
}

const namedValue = ({ path, text, value }: JsonField, family: string): NamedValue => ({
  name: path === '' ? '·' : path,
  text,
  term: value === null ? null : printTerm({ field: `${family}.${path}`, value }),
})
