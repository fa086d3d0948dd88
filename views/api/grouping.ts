import { searchText } from '../../shared/contract/keyword.ts'
import type { EntryKind } from '../../shared/contract/records.ts'
import type { GroupColumn, GroupField } from '../../shared/log-store/log-store.ts'
import type { LeafName } from '../../shared/query/ast.ts'
import { findField } from '../../shared/query/fields.ts'
import { GROUPED_BY } from '../schemas/list-parameters.ts'
import { invalidParameters } from './problems.ts'

/** Longest name of a value inside the scope data or the payload, in UTF-16 units. */
const NAME_LENGTH_MAX = 256

/** The family of names that logs of each kind have. */
const FAMILIES = { event: 'payload', application: 'scope' } as const satisfies Record<EntryKind, LeafName['field']>

/** The field that logs are grouped by, and its name without aliases. Throws an `invalid_request` that tells which fields there are. */
export function groupingOf(kind: EntryKind, text: string): { readonly by: string; readonly field: GroupField } {
  const leaf = leafOf(kind, text)
  if (leaf !== undefined) return { by: `${leaf.field}.${leaf.path}`, field: leaf }
  const fields = GROUPED_BY[kind].filter((one) => !one.endsWith('<key>'))
  const reference = findField(text)
  const field = reference?.kind === 'field' ? reference.field : undefined
  // A template has no name in a search.
  const by = fields.find((one) => one === (field?.name ?? text.toLowerCase()))
  if (by === undefined)
    throw invalidParameters([{ path: 'by', message: `must be ${fields.join(', ')} or ${nameIn(FAMILIES[kind])}` }])
  if (field?.kind === 'hex') return { by, field: { field: 'scope', path: field.path } }
  return { by, field: by === 'exception' ? 'exceptionGroup' : (by as GroupColumn) }
}

/** The numbers that a name stands for. Throws an `invalid_request` that tells how they are named. */
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
