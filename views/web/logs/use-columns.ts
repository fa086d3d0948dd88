import { useLayoutEffect, useMemo } from 'preact/hooks'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { keep, kept } from '../ui/keep.ts'
import { createStore } from '../ui/store.ts'
import { go } from '../ui/use-address.ts'
import { type Column, columnOf, parseColumns, usualColumns, valueNames } from './columns.ts'
import type { AddressParams } from './filters.ts'

export type Density = 'comfortable' | 'compact'
const DENSITY = 'density'

/** How high rows are. It is for the eyes of one person, so it is no part of the address. */
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
  /** Whether somebody chose them. */
  readonly isChosen: boolean
  /** The values that the API is to give with each row. */
  readonly fields: string
}

/** The columns of a list: those of the address, or else those that were chosen last on this browser. */
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

/** Puts the columns that were chosen last into an address that names none, so that copying it shares them. */
export function useColumnsInAddress(kind: EntryKind, { columns }: AddressParams): void {
  useLayoutEffect(() => {
    if (columns === undefined) go({ params: { columns: kept(preferenceOf(kind)) } }, 'replace')
  }, [kind, columns])
}

const textOf = (columns: readonly Column[]): string => columns.map(({ name }) => name).join(',')

/** Takes these columns from now on; none at all stands for the usual ones. */
export function chooseColumns(kind: EntryKind, columns: readonly Column[]): void {
  const text = textOf(columns)
  const chosen = text === '' || text === textOf(usualColumns(kind)) ? undefined : text
  keep(preferenceOf(kind), chosen)
  go({ params: { columns: chosen } }, 'replace')
}

const preferenceOf = (kind: EntryKind): string => `columns.${kind}`

/** The column of the field that a term of a search is about, if any. */
export function columnOfTerm(kind: EntryKind, term: string): Column | undefined {
  const [, name = ''] = /^((?:[^\\:]|\\.)*):/.exec(term) ?? []
  return columnOf(kind, name.replace(/\\(.)/g, '$1'))
}
