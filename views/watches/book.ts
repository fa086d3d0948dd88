import { AppendError, type Journal, type JournalRecord } from '../../shared/journal/journal.ts'
import { createTopicFollower } from '../../shared/journal/topic-follower.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import type { Service } from '../../shared/runtime/lifecycle.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import {
  decodeRecord,
  encodeRecord,
  type StoredEvaluations,
  type StoredState,
  type StoredWatch,
  type WatchRecord,
} from './records.ts'

/** A watch with everything known about it. */
export interface KnownWatch extends StoredWatch {
  readonly team: string
  /** A GUID in canonical form. */
  readonly id: string
  readonly state: StoredState | undefined
  /** Canonical timestamp; null before the first evaluation. */
  readonly lastEvaluatedAt: string | null
}

/** All watches, as stored in the topic. */
export interface WatchBook {
  /** Whether the topic has been read up to where it ended at the start. */
  ready(): boolean
  all(): readonly KnownWatch[]
  /** The watches of a Team, by name. */
  of(team: string): readonly KnownWatch[]
  find(team: string, id: string): KnownWatch | undefined
  /** Creates, changes or (null) deletes a watch. Rejects like `Journal.append`. */
  put(team: string, id: string, watch: StoredWatch | null): Promise<void>
  /**
   * Appends the successor of `watch`'s state and returns whether it won: of several processes that succeed the same state, the one whose
   * record comes first in the topic. Rejects like `Journal.append`, and if the record is not read back in time.
   */
  advance(watch: KnownWatch, state: NextState): Promise<boolean>
  /** Records when watches of a Team were evaluated. Rejects like `Journal.append`. */
  noteEvaluations(team: string, evaluations: StoredEvaluations): Promise<void>
}

/** A state without the number and writer that the book adds. */
export type NextState = Omit<StoredState, 'by' | 'revision'>

export interface WatchBookDeps {
  readonly journal: Pick<Journal, 'follow' | 'append'>
  readonly topic: string
  /** Identifies this process among all writers. */
  readonly writer: string
  readonly clock: Clock
  readonly logger: Logger
  /** Milliseconds to wait before reading the topic again after a failure. */
  readonly retryMs?: number
}

/** The topic has one partition, so its records have one order. */
const PARTITION = 0
/** Maximum time from an append until it is read back. */
const READ_BACK_MS = 10_000

/** Keeps all watches and their states in memory. */
export function createWatchBook(deps: WatchBookDeps): WatchBook & Service {
  const { journal, topic, writer } = deps
  /** Called after each change. */
  const waiting = new Set<() => void>()
  const { name, start, stop, state, caughtUp } = createTopicFollower({
    ...deps,
    name: 'watches',
    begin: createFold,
    fold: (fold, records) => fold.add(records),
    onChange: () => {
      for (const look of [...waiting]) look()
    },
  })

  /** Resolves once the condition holds after a fold; rejects on timeout. */
  async function until(holds: () => boolean): Promise<void> {
    if (holds()) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const look = (): void => {
      if (holds()) resolve()
    }
    const timer = setTimeout(() => reject(new Error('the appended record was not read back in time')), READ_BACK_MS)
    waiting.add(look)
    try {
      await promise
    } finally {
      clearTimeout(timer)
      waiting.delete(look)
    }
  }

  const append = (record: WatchRecord): Promise<void> =>
    journal.append({ topic, partition: PARTITION, records: [encodeRecord(record)] })
  const known = (team: string, id: string): KnownWatch | undefined => state().find(team, id)

  return {
    name,
    start,
    stop,
    ready: caughtUp,
    all: () => state().all(),
    of: (team) =>
      state()
        .of(team)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    find: known,
    put: async (team, id, value) => {
      const state: readonly WatchRecord[] = value === null ? [{ kind: 'state', team, id, value: null }] : []
      const records = [{ kind: 'watch', team, id, value } as const, ...state].map(encodeRecord)
      await journal.append({ topic, partition: PARTITION, records })
    },
    advance: async ({ team, id, state: before }, next) => {
      const revision = (before?.revision ?? 0) + 1
      try {
        await append({ kind: 'state', team, id, value: { ...next, revision, by: writer } })
      } catch (error) {
        // The record may have been written, so it is looked for.
        if (!(error instanceof AppendError && error.outcome === 'unknown')) throw error
      }
      await until(() => known(team, id) === undefined || (state().stateOf(team, id)?.revision ?? 0) >= revision)
      if (known(team, id) === undefined) {
        // The watch was deleted meanwhile, so its state must not remain.
        await append({ kind: 'state', team, id, value: null })
        return false
      }
      const stands = state().stateOf(team, id)
      if (stands?.revision === revision && stands.by === writer) return true
      // Compaction keeps the last record of a key, which must not be the one that lost.
      if (stands !== undefined) await append({ kind: 'state', team, id, value: stands })
      return false
    },
    noteEvaluations: (team, value) => append({ kind: 'evaluated', team, id: '', value }),
  }
}

/** The topic's content in memory. */
function createFold() {
  const teams = new Map<string, Map<string, StoredWatch>>()
  const states = new Map<string, StoredState>()
  const evaluated = new Map<string, StoredEvaluations>()
  const keyOf = (team: string, id: string): string => `${team}/${id}`

  function addOne(record: WatchRecord): void {
    const { kind, team, id } = record
    if (kind === 'watch') {
      const own = teams.get(team) ?? new Map<string, StoredWatch>()
      if (record.value === null) own.delete(id)
      else own.set(id, record.value)
      if (own.size === 0) teams.delete(team)
      else teams.set(team, own)
    } else if (kind === 'evaluated') {
      evaluated.set(team, record.value ?? {})
    } else if (record.value === null) {
      states.delete(keyOf(team, id))
    } else if (record.value.revision > (states.get(keyOf(team, id))?.revision ?? 0)) {
      // Compaction may have removed revisions in between; a revision that is not greater comes from a process that lost the race.
      states.set(keyOf(team, id), record.value)
    }
  }

  const knownOf = (team: string, id: string, watch: StoredWatch): KnownWatch => ({
    ...watch,
    team,
    id,
    state: states.get(keyOf(team, id)),
    lastEvaluatedAt: evaluated.get(team)?.[id] ?? null,
  })
  const of = (team: string): readonly KnownWatch[] =>
    [...(teams.get(team) ?? [])].map(([id, watch]) => knownOf(team, id, watch))

  return {
    add: (records: readonly Pick<JournalRecord, 'key' | 'value'>[]): void => {
      for (const each of records) {
        const record = decodeRecord(each)
        if (record !== undefined) addOne(record)
      }
    },
    of,
    all: (): readonly KnownWatch[] => [...teams.keys()].flatMap(of),
    find: (team: string, id: string): KnownWatch | undefined => {
      const watch = teams.get(team)?.get(id)
      return watch && knownOf(team, id, watch)
    },
    stateOf: (team: string, id: string): StoredState | undefined => states.get(keyOf(team, id)),
  }
}
