import type { EntryKind } from '../../contract/records.ts'
import { DAY_MS, timestampOf } from '../../contract/timestamp.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/logger.ts'
import { StoreHaltError } from '../log-store.ts'
import { readShards } from './checkpoints.ts'
import { type Connection, ElasticsearchError } from './connection.ts'
import { askVisible } from './hidden-indices.ts'
import type { IndexNames } from './index-names.ts'
import { findLostAliases, findSurplus, type LostAlias, lostAliasText, putAliasesBack } from './lost-aliases.ts'
import { ENTRY_MAPPINGS, FLOW_MAPPINGS, type Template } from './mappings.ts'
import { findDifferences, findMissingTemplates } from './template-check.ts'

export interface Indices {
  /** The differences from the templates and indices that this release needs, in sentences; empty if there are none. Changes nothing. */
  check(): Promise<readonly string[]>
  /**
   * Corrects the differences, puts lost aliases back, and creates the indices of flows, of today and of tomorrow; returns a line for each
   * correction, each alias and index that needs a hand, and each new index. Safe to repeat and to run in several processes at once.
   * Rejects if an existing index cannot be brought to the mapping.
   */
  apply(): Promise<readonly string[]>
  /** Rejects with a `StoreHaltError` if a template is missing; one of another release is good enough to write with. */
  requireTemplates(): Promise<void>
  /**
   * Creates the indices of today and tomorrow, so that they exist at midnight; warns of lost aliases and of indices that show entries twice.
   * Returns those that were missing.
   */
  prepareDays(): Promise<readonly string[]>
  /**
   * Removes the indices of days before `day` (yyyy-mm-dd); returns how many documents were removed with them. Rejects if one refuses to be
   * removed, after the others have been.
   */
  removeBefore(day: string): Promise<number>
}

interface Deps {
  /** A connection that retries (`retrying`). */
  readonly connection: Connection
  readonly names: IndexNames
  readonly templates: readonly Template[]
  readonly clock: Clock
  readonly logger: Logger
}

export function createIndices({ connection, names, templates, clock, logger }: Deps): Indices {
  const check = (): Promise<string[]> => findDifferences(connection, names, templates)

  /** Rejects with Elasticsearch's reason, which has to do with templates: there is no document in such a request. */
  async function put(path: string, body?: object): Promise<void> {
    try {
      await connection.send({ method: 'PUT', path, ...(body && { body }) })
    } catch (error) {
      if (!(error instanceof ElasticsearchError) || error.body.reason === undefined) throw error
      throw new ElasticsearchError(`${error.message}: ${error.body.reason}`, error.status, error.body)
    }
  }

  /** Returns false if the index existed already, as when another process was faster. */
  async function create(index: string): Promise<boolean> {
    try {
      await put(`/${index}`)
      return true
    } catch (error) {
      if (error instanceof ElasticsearchError && error.body.type === 'resource_already_exists_exception') return false
      throw error
    }
  }

  /** Does nothing if there is no such index yet. */
  async function addFields(pattern: string, mappings: object): Promise<void> {
    try {
      await put(`/${pattern}/_mapping`, mappings)
    } catch (error) {
      if (!(error instanceof ElasticsearchError && error.status === 404)) throw error
    }
  }

  async function correct(): Promise<void> {
    for (const { kind, name, body } of templates) await put(`/_${kind}_template/${name}`, body)
    // An index accepts new fields at any time, but no field with a changed type; that needs a new version.
    await addFields(names.flows, FLOW_MAPPINGS)
    await addFields(names.all(['event']), ENTRY_MAPPINGS)
    await addFields(names.all(['application']), ENTRY_MAPPINGS)
  }

  /** Creates the indices; returns those that were missing. Rejects with a `StoreHaltError` if they are not as the templates say. */
  async function createAll(indices: readonly string[]): Promise<readonly string[]> {
    const made: string[] = []
    for (const index of indices) if (await create(index)) made.push(index)
    if (made.length > 0) await requireNone(check(), '; a template of a higher priority may match the new ones')
    return made
  }

  /** Creates the indices of today and tomorrow, except those whose alias is lost, which it warns of; returns those made. */
  async function createDays(lost: readonly LostAlias[]): Promise<readonly string[]> {
    const days = [clock.now(), clock.now() + DAY_MS].map((at) => timestampOf(at).slice(0, 10))
    const wanted = days.flatMap((day) => [names.day('event', day), names.day('application', day)])
    const there = new Set((await dayIndices(connection, names)).map(({ name }) => name))
    for (const each of lost) logger.warn({ reason: lostAliasText(each) }, 'entries are stored that no read shows')
    // An index in the place of the alias would keep it from being put back.
    const missing = wanted.filter((name) => !there.has(name) && !lost.some((each) => each.name === name))
    if (missing.length > 0) await requireNone(check())
    return createAll(missing)
  }

  return {
    check,
    async apply() {
      const lost = await findLostAliases(connection, names)
      const found = [...(await putAliasesBack(connection, lost)), ...(await findSurplus(connection, names))]
      const differences = await check()
      // A read-only index takes no mapping, not even the one that it has.
      if (differences.length > 0) await correct()
      const rest = lost.filter(({ taker }) => taker !== undefined)
      const lacksFlows = (await indexBehind(connection, names.flows)) === undefined
      const created = [...(await createAll(lacksFlows ? [names.flows] : [])), ...(await createDays(rest))]
      if (differences.length > 0) logger.info({ differences }, 'index templates and mappings were brought up to date')
      return [
        ...found,
        ...(await findClosed(connection, names.flows)),
        ...differences.map((text) => `corrected: ${text}`),
        ...created.map((index) => `created: ${index}`),
      ]
    },
    requireTemplates: () => requireNone(findMissingTemplates(connection, templates)),
    prepareDays: async () => {
      for (const reason of await findSurplus(connection, names)) logger.warn({ reason }, 'entries may be shown twice')
      return createDays(await findLostAliases(connection, names))
    },
    async removeBefore(day) {
      const old = (await dayIndices(connection, names)).filter((found) => found.day < day)
      const counts = await countDocuments(connection, names)
      const removed: string[] = []
      let refusal: ElasticsearchError | undefined
      for (const { index } of old) {
        try {
          await deleteIndex(connection, index)
          removed.push(index)
        } catch (error) {
          if (!isRefusal(error)) throw error
          refusal ??= error
        }
      }
      const documents = removed.reduce((sum, index) => sum + (counts.get(index) ?? 0), 0)
      if (removed.length > 0) logger.info({ before: day, indices: removed.length, documents }, 'old days were removed')
      if (refusal !== undefined) throw refusal
      return documents
    },
  }
}

/** Rejects if anything was found: without its template, an index would accept any field of any type, and could not be corrected afterwards. */
async function requireNone(found: Promise<readonly string[]>, advice = ''): Promise<void> {
  const [first] = await found
  if (first !== undefined) throw new StoreHaltError(`the indices are not as they must be: ${first}${advice}`)
}

/** Whether Elasticsearch refuses this one request, as for an index that is read-only or being copied into a snapshot. */
const isRefusal = (error: unknown): error is ElasticsearchError =>
  error instanceof ElasticsearchError && (error.status === 400 || error.status === 403)

export interface DayIndex {
  readonly index: string
  /** The name by which it is written and searched: its own, or its alias after a rebuild (rebuild.ts). */
  readonly name: string
  readonly kind: EntryKind
  readonly day: string
  readonly closed: boolean
}

/** All existing indices of days, also those that are closed or that no node holds at the moment. */
export async function dayIndices(connection: Connection, names: IndexNames): Promise<readonly DayIndex[]> {
  return (await readShards(connection, names)).flatMap(({ index, shard, kind, closed }) => {
    const day = names.dayOf(index)
    return shard > 0 || day === undefined ? [] : [{ index, name: names.day(kind, day), kind, day, closed }]
  })
}

/** The numbers of documents by index, as far as nodes hold its shards. */
async function countDocuments(connection: Connection, names: IndexNames): Promise<ReadonlyMap<string, number>> {
  type Stats = {
    readonly indices?: Record<string, { readonly primaries: { readonly docs: { readonly count: number } } }>
  }
  const { answer } = await askVisible<Stats>(connection, names.all(), (indices) => ({
    method: 'GET',
    path: `/${indices}/_stats/docs`,
    query: { filter_path: 'indices.*.primaries.docs.count', forbid_closed_indices: false },
  }))
  return new Map(Object.entries(answer.indices ?? {}).map(([index, { primaries }]) => [index, primaries.docs.count]))
}

/** Tells of an index that is closed, which to a search looks like one that is missing; empty if it is open. */
async function findClosed(connection: Connection, name: string): Promise<readonly string[]> {
  type Answer = Record<string, { readonly settings: { readonly index?: { readonly verified_before_close?: string } } }>
  const setting = 'index.verified_before_close'
  const answer = await connection.send<Answer>({ method: 'GET', path: `/${name}/_settings/${setting}` })
  return Object.entries(answer)
    .filter(([, { settings }]) => settings.index?.verified_before_close === 'true')
    .map(([index]) => `${index} is closed, so it is neither read nor written: open it (POST /${index}/_open)`)
}

/** The index with this name or alias; undefined if there is none. */
export async function indexBehind(connection: Connection, name: string): Promise<FoundIndex | undefined> {
  const answer = await connection.send<IndexAnswer>({
    method: 'GET',
    path: `/${name}`,
    query: { ignore_unavailable: true, filter_path: FOUND },
  })
  const [found] = Object.entries(answer)
  if (found === undefined) return undefined
  const [index, { aliases = {}, settings }] = found
  const shards = Number(settings.index.number_of_shards)
  return { index, shards, aliases: Object.keys(aliases) }
}

export interface FoundIndex {
  readonly index: string
  readonly shards: number
  readonly aliases: readonly string[]
}

interface IndexAnswer {
  readonly [index: string]: {
    readonly aliases?: Readonly<Record<string, object>>
    readonly settings: { readonly index: { readonly number_of_shards: string } }
  }
}

const FOUND = '*.aliases,*.settings.index.number_of_shards'

export async function deleteIndex(connection: Connection, index: string): Promise<void> {
  await connection.send({ method: 'DELETE', path: `/${index}`, query: { ignore_unavailable: true } })
}
