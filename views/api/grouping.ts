import { searchText } from '../../shared/contract/keyword.ts'
import type { EntryKind } from '../../shared/contract/records.ts'
import type { GroupColumn, GroupField } from '../../shared/log-store/log-store.ts'
import type { LeafName } from '../../shared/query/ast.ts'
import { findField } from '../../shared/query/fields.ts'
import { GROUPED_BY } from '../schemas/list-parameters.ts'
import { invalidParameters } from './problems.ts'

/** Maximum length of the name of a value inside scope data or a payload, in UTF-16 code units. */
const NAME_LENGTH_MAX = 256

/** The field family of the values in logs of each kind. */
export const FAMILIES: Readonly<Record<EntryKind, LeafName['field']>> = { event: 'payload', application: 'scope' }

/** The field to group by, and its name without aliases. Throws an `invalid_request` that lists the allowed fields. */
export function groupingOf(kind: EntryKind, text: string): { readonly by: string; readonly field: GroupField } {
  const leaf = leafOf(kind, text)
  if (leaf !== undefined) return { by: `${leaf.field}.${leaf.path}`, field: leaf }
  const fields = GROUPED_BY[kind].filter((one) => !one.endsWith('<key>'))
  const reference = findField(text)
  const field = reference?.kind === 'field' ? reference.field : undefined
  // The search grammar has no name for a template.
  const by = fields.find((one) => one === (field?.name ?? text.toLowerCase()))
  if (by === undefined)
    throw invalidParameters([{ path: 'by', message: `must be ${fields.join(', ')} or ${nameIn(FAMILIES[kind])}` }])
  if (field?.kind === 'hex') return { by, field: { field: 'scope', path: field.path } }
  return { by, field: by === 'exception' ? 'exceptionGroup' : (by as GroupColumn) }
}

/** The numeric field that a name denotes. Throws an `invalid_request` that explains the form of such names. */
export function numbersOf(kind: EntryKind, text: string): LeafName {
  const leaf = leafOf(kind, text)
  if (leaf === undefined) throw invalidParameters([{ path: 'value', message: `must be ${nameIn(FAMILIES[kind])}` }])
  return leaf
}

function leafOf(kind: EntryKind, text: string): LeafName | undefined {
  const reference = text.length > NAME_LENGTH_MAX ? undefined : findField(searchText(text))
  if (reference?.kind !== 'leaf' || reference.field !== FAMILIES[kind]) return undefined
  return { field: reference.field, path: reference.path }
}

const nameIn = (family: LeafName['field']): string => `${family}.<key>, in ${NAME_LENGTH_MAX} characters at most`
