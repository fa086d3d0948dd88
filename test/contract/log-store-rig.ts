import { randomUUID } from 'node:crypto'
import type { EntryDocument, FlowDelta } from '../../shared/contract/documents.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import { compareTimestamps } from '../../shared/contract/timestamp.ts'
import {
  type EntryFilter,
  EVERY_FLOW,
  type FlowFilter,
  type LogStore,
  type PageRequest,
  type WriteOutcome,
} from '../../shared/log-store/log-store.ts'
import { entriesOf, recordOf } from '../support/documents.ts'
import { eventually } from '../support/eventually.ts'

/** A store, and what tests do with it. Tests keep apart by their Teams, so that one store can serve them all. */
export interface Rig {
  readonly store: LogStore
  /** Writes the documents and waits until a search sees all that are stored. */
  put(...documents: readonly EntryDocument[]): Promise<readonly WriteOutcome[]>
  mergeFlows(...deltas: readonly FlowDelta[]): Promise<void>
  /** The entries of all pages. */
  pages(filter: EntryFilter, page?: Partial<PageRequest>): Promise<readonly EntryRecord[]>
  /** Waits for what becomes visible later, after a refresh of the store. */
  settled<T>(check: () => Promise<T>): Promise<T>
}

/** Longer than any store's promise, so that a busy machine does not fail a test. */
const PATIENCE_MS = 20_000
const IDS_OF_A_QUERY = 100
const never = new AbortController().signal

export const newTeam = (): string => `team-${randomUUID()}`

export const flowsOf = (team: string, fields: Partial<FlowFilter> = {}): FlowFilter => ({
  ...EVERY_FLOW,
  team,
  ...fields,
})

export function createRig(storeOf: () => LogStore, refresh: () => unknown = () => undefined): Rig {
  // A server spends less on a refresh than on searches that are repeated until it has refreshed by itself.
  const settled = async <T>(check: () => Promise<T>): Promise<T> => {
    await refresh()
    return eventually(check, PATIENCE_MS)
  }

  const put = async (...documents: readonly EntryDocument[]): Promise<readonly WriteOutcome[]> => {
    const outcomes = await storeOf().write(documents, never)
    const stored = documents.filter((_, index) => outcomes[index]?.outcome !== 'refused')
    for (const team of new Set(stored.map((document) => document.team))) {
      const ids = [...new Set(stored.filter((document) => document.team === team).map(({ id }) => id))]
      for (let at = 0; at < ids.length; at += IDS_OF_A_QUERY) {
        const some = ids.slice(at, at + IDS_OF_A_QUERY)
        const query = { type: 'or' as const, queries: some.map(idIs) }
        await settled(async () => (await storeOf().count(entriesOf(team, { query }))) === some.length)
      }
    }
    return outcomes
  }

  return {
    get store() {
      return storeOf()
    },
    put,
    settled,
    mergeFlows: (...deltas) => storeOf().mergeFlows(deltas, never),
    pages: async (filter, { limit = 100, order = 'asc', after = null, form = 'whole' } = {}) => {
      const entries: EntryRecord[] = []
      for (let from = after, pages = 0; pages < 1_000; pages += 1) {
        const page = await storeOf().search(filter, { limit, order, after: from, form })
        entries.push(...page.entries)
        if (page.next === null) return entries
        from = page.next
      }
      throw new Error('the pages do not end')
    },
  }
}

const idIs = (id: string) => ({ type: 'equals' as const, field: 'id' as const, value: id, prefix: false })

/** The records of documents by (timestamp, id), the order of every list. */
export const inOrder = (documents: readonly EntryDocument[]): readonly EntryRecord[] =>
  documents.toSorted((a, b) => compareTimestamps(a.timestamp, b.timestamp) || (a.id < b.id ? -1 : 1)).map(recordOf)

export const idsOf = (entries: readonly { readonly id: string }[]): readonly string[] => entries.map(({ id }) => id)
