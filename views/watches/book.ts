import { randomUUID } from 'node:crypto'
import { AppendError, type Journal, type JournalRecord } from '../../shared/journal/journal.ts'
import { createTopicFollower } from '../../shared/journal/topic-follower.ts'
import type { BaseServices } from '../../shared/role.ts'
import type { Service } from '../../shared/runtime/lifecycle.ts'
import { createWaker } from '../../shared/runtime/waiting.ts'
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
  /** Deletes a watch. Rejects like `advance`. */
  remove(team: string, id: string): Promise<void>
  /**
   * Creates a watch, or changes the one whose revision it has, and returns whether it won: of several changes of the same revision, the one
   * whose record comes first in the topic. Rejects like `advance`.
   */
  put(team: string, id: string, watch: StoredWatch): Promise<boolean>
  /**
   * Appends the successor of `watch`'s state and returns whether it won: of several processes that succeed the same state, the one whose
   * record comes first in the topic. Rejects like `Journal.append`, and if the record is not read back in time.
   */
  advance(watch: KnownWatch, state: NextState): Promise<boolean>
  /**
   * Appends once more what stands where a record that lost came after it: compaction keeps the last record of a key. For one process to call
   * from time to time. Rejects like `Journal.append`.
   */
  mend(): Promise<void>
  /** Records when watches of a Team were evaluated. Rejects like `Journal.append`. */
  noteEvaluations(team: string, evaluations: StoredEvaluations): Promise<void>
}

/** A state without the number and writer that the book adds. */
export type NextState = Omit<StoredState, 'by' | 'revision'>

interface WatchBookDeps extends Pick<BaseServices, 'clock' | 'logger'> {
  readonly journal: Pick<Journal, 'follow' | 'append'>
  readonly topic: string
  /** Identifies this process among all writers. */
  readonly writer: string
  /** Milliseconds to wait before reading the topic again after a failure. */
  readonly retryMs?: number
}

/** A record that counts only if it is the first of its revision. */
type Revision = Exclude<WatchRecord, { readonly kind: 'evaluated' }> & {
  readonly value: { readonly revision: number; readonly by: string }
}

/** The key of a record of a watch or of its state. */
type Key = Pick<Revision, 'kind' | 'team' | 'id'>

/** The topic has one partition, so its records have one order. */
const PARTITION = 0
/** Maximum time from an append until it is read back. */
const READ_BACK_MS = 10_000

/** Keeps all watches and their states in memory. */
export function createWatchBook(deps: WatchBookDeps): WatchBook & Service {
  const { journal, topic, writer } = deps
  const folds = createWaker(new AbortController().signal)
  const { name, start, stop, state, caughtUp } = createTopicFollower({
    ...deps,
    name: 'watches',
    begin: createFold,
    fold: (fold, records) => fold.add(records),
    onChange: folds.wake,
  })

  const append = (...records: readonly WatchRecord[]): Promise<void> =>
    journal.append({ topic, partition: PARTITION, records: records.map(encodeRecord) })

  /** Resolves once the condition holds after a fold; rejects on timeout. */
  async function until(holds: () => boolean): Promise<void> {
    const end = performance.now() + READ_BACK_MS
    while (!holds()) {
      const leftMs = end - performance.now()
      if (leftMs <= 0) throw new AppendError('the appended record was not read back in time', 'unknown')
      await folds.wait(leftMs)
    }
  }

  /** Appends a record and returns whether it is the one that stands. */
  async function appendRevision(record: Revision): Promise<boolean> {
    const { revision, by } = record.value
    const standing = () => state().standing(record)
    try {
      await append(record)
    } catch (error) {
      // The record may have been written, so it is looked for.
      if (!(error instanceof AppendError && error.outcome === 'unknown')) throw error
    }
    await until(() => standing() === null || (standing()?.revision ?? 0) >= revision)
    const stands = standing()
    return stands?.revision === revision && stands.by === by
  }

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
    find: (team, id) => state().find(team, id),
    remove: async (team, id) => {
      await append({ kind: 'watch', team, id, value: null }, { kind: 'state', team, id, value: null })
      await until(() => state().find(team, id) === undefined)
    },
    put: (team, id, watch) => {
      const value = { ...watch, revision: (watch.revision ?? 0) + 1, by: randomUUID() }
      return appendRevision({ kind: 'watch', team, id, value })
    },
    advance: ({ team, id, state: before }, next) => {
      const value = { ...next, revision: (before?.revision ?? 0) + 1, by: writer }
      return appendRevision({ kind: 'state', team, id, value })
    },
    mend: async () => {
      for (const record of state().overlaid()) await append(record)
    },
    noteEvaluations: (team, value) => append({ kind: 'evaluated', team, id: '', value }),
  }
}

/** The topic's content in memory. */
function createFold() {
  const teams = new Map<string, Map<string, StoredWatch>>()
  const states = new Map<string, StoredState>()
  const evaluated = new Map<string, StoredEvaluations>()
  /** A change that was made without knowing of the deletion does not undo it. */
  const deleted = new Set<string>()
  /** The records that stand for keys whose last record does not count: compaction would keep the wrong one. */
  const overlaid = new Map<string, WatchRecord>()
  const keyOf = (team: string, id: string): string => `${team}/${id}`
  const presentOf = ({ kind, team, id }: Key): StoredWatch | StoredState | undefined =>
    kind === 'watch' ? teams.get(team)?.get(id) : states.get(keyOf(team, id))

  function addOne(record: WatchRecord): void {
    if (record.kind === 'evaluated') {
      evaluated.set(record.team, record.value ?? {})
      return
    }
    const { kind, team, id, value } = record
    const key = `${kind}/${keyOf(team, id)}`
    const present = presentOf(record)
    const revision = value?.revision ?? Number.POSITIVE_INFINITY
    // Compaction may have removed revisions in between; a revision that is not greater comes from a process that lost the race.
    const isLate = value !== null && (deleted.has(keyOf(team, id)) || revision <= (present?.revision ?? 0))
    if (!isLate) replace(record)
    if (isLate && (present?.revision !== revision || present.by !== value.by))
      overlaid.set(key, { kind, team, id, value: present ?? null } as WatchRecord)
    else overlaid.delete(key)
  }

  function replace({ kind, team, id, value }: Exclude<WatchRecord, { readonly kind: 'evaluated' }>): void {
    const key = keyOf(team, id)
    if (kind === 'state') {
      if (value === null) states.delete(key)
      else states.set(key, value)
      return
    }
    if (value === null) deleted.add(key)
    const own = teams.get(team) ?? new Map<string, StoredWatch>()
    if (value === null) own.delete(id)
    else own.set(id, value)
    if (own.size === 0) teams.delete(team)
    else teams.set(team, own)
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
    overlaid: (): readonly WatchRecord[] => [...overlaid.values()],
    /** The value that counts for a key; null if there is to be none, as the watch was deleted. */
    standing: (key: Key): StoredWatch | StoredState | null | undefined => {
      const { kind, team, id } = key
      const isGone = kind === 'watch' ? deleted.has(keyOf(team, id)) : !teams.get(team)?.has(id)
      return isGone ? null : presentOf(key)
    },
  }
}
