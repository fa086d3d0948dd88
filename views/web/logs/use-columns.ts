import { useLayoutEffect, useMemo } from 'preact/hooks'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { keep, kept } from '../ui/keep.ts'
import { createStore } from '../ui/store.ts'
import { go } from '../ui/use-address.ts'
import { type Column, columnOf, parseColumns, usualColumns, valueNames } from './columns.ts'
import type { AddressParams } from './filters.ts'

type Density = 'comfortable' | 'compact'
const DENSITY = 'density'

/** The height of rows. A personal preference, so it is not part of the address. */
export const density = createStore<Density>(kept(DENSITY) === 'compact' ? 'compact' : 'comfortable')

function drawDensity(): void {
  document.documentElement.dataset[DENSITY] = density.get()
}
drawDensity()

export function setDensity(next: Density): void {
  density.set(next)
  keep(DENSITY, next)
  drawDensity()
}

export interface ChosenColumns {
  readonly columns: readonly Column[]
  /** Whether the columns were chosen, not the default. */
  readonly isChosen: boolean
  /** The values that the API should return with each row. */
  readonly fields: string
}

/** The columns of a list: those in the address, or else those last chosen in this browser. */
export function useColumns(kind: EntryKind, params: AddressParams): ChosenColumns {
  const text = params['columns'] ?? kept(preferenceOf(kind))
  const { environment, project } = params
  return useMemo(() => {
    const chosen = parseColumns(kind, text)
    const same = [environment && 'environment', project && 'project'].filter((name) => name !== undefined)
    const columns = chosen ?? usualColumns(kind, same)
    return { columns, isChosen: chosen !== undefined, fields: valueNames(columns) }
  }, [kind, text, environment, project])
}

/** The columns that the list has room for now: as its styles say, it hides some of the usual ones. */
export function shownColumns({ columns, isChosen }: ChosenColumns): readonly Column[] {
  const table = isChosen ? null : document.querySelector('.log-table')
  const hidden = table ? getComputedStyle(table).getPropertyValue('--hidden').split(' ') : []
  return columns.filter(({ name }) => !hidden.includes(name))
}

/** Adds the last chosen columns to an address without any, so that a copied address includes them. */
export function useColumnsInAddress(kind: EntryKind, { columns }: AddressParams): void {
  useLayoutEffect(() => {
    if (columns === undefined) go({ params: { columns: kept(preferenceOf(kind)) } }, 'replace')
  }, [kind, columns])
}

const textOf = (columns: readonly Column[]): string => columns.map(({ name }) => name).join(',')

/** Sets the columns; an empty list restores the default. */
export function chooseColumns(kind: EntryKind, columns: readonly Column[]): void {
  const text = textOf(columns)
  const chosen = text === '' || text === textOf(usualColumns(kind)) ? undefined : text
  keep(preferenceOf(kind), chosen)
  go({ params: { columns: chosen } }, 'replace')
}

const preferenceOf = (kind: EntryKind): string => `columns.${kind}`

/** The column of the field in a search term, if any. */
export function columnOfTerm(kind: EntryKind, term: string): Column | undefined {
  const [, name = ''] = /^((?:[^\\:]|\\.)*):/.exec(term) ?? []
  return columnOf(kind, name.replace(/\\(.)/g, '$1'))
}
