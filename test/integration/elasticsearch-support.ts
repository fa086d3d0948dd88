import { randomBytes } from 'node:crypto'
import type { EntryDocument } from '../../shared/contract/documents.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import type { ElasticsearchAuth } from '../../shared/log-store/elasticsearch/connection.ts'
import {
  createElasticsearchLogStore,
  type ElasticsearchLogStore,
  type ElasticsearchOptions,
} from '../../shared/log-store/elasticsearch/elasticsearch-log-store.ts'
import { createLogger } from '../../shared/runtime/logger.ts'
import { createMetrics, type Metrics } from '../../shared/runtime/metrics.ts'
import { applicationDocument, entriesOf } from '../support/documents.ts'

export const TEAM = 'payments'
const NOW = Date.parse('2026-01-31T12:00:00.000Z')
export const TODAY = '2026-01-31'
export const never = new AbortController().signal

export const uniquePrefix = (): string => `test-${randomBytes(6).toString('hex')}`

export interface Opened {
  readonly store: ElasticsearchLogStore
  readonly metrics: Metrics
}

/** How a server that asks who one is wants to be spoken to. */
export interface Access {
  readonly auth: ElasticsearchAuth
  readonly caFile: string | null
}

const OPEN: Access = { auth: { type: 'none' }, caFile: null }

export function openStore(
  url: string,
  indexPrefix: string,
  options: Partial<ElasticsearchOptions> = {},
  access = OPEN,
): Opened {
  const metrics = createMetrics()
  const store = createElasticsearchLogStore({
    url,
    auth: () => access.auth,
    caFile: access.caFile,
    indexPrefix,
    clock: { now: () => NOW },
    logger: createLogger('silent', 'test'),
    metrics,
    options: { replicas: 0, refreshIntervalMs: 100, ...options },
  })
  return { store, metrics }
}

/** Removes what a prefix left on the server, so that a long run does not reach its limit of shards. */
export async function removeAll(url: string, prefix: string): Promise<void> {
  const listed = await ask(url, 'GET', `/_resolve/index/${prefix}-*?expand_wildcards=all`)
  const names = (listed as { indices: { name: string }[] }).indices.map(({ name }) => name)
  if (names.length > 0) await ask(url, 'DELETE', `/${names.join(',')}`)
  await ask(url, 'DELETE', `/_index_template/${prefix}-*`)
  await ask(url, 'DELETE', `/_component_template/${prefix}-*`)
}

/** One request past the store; gives back the answer's JSON whatever the status. */
export async function ask(url: string, method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return answer.json()
}

/** Makes an index whose shards no node holds. */
export const makeUnassigned = (url: string, index: string): Promise<unknown> =>
  ask(url, 'PUT', `/${index}?wait_for_active_shards=0`, {
    settings: { 'index.routing.allocation.require._name': 'nobody' },
  })

/** A UUID of the given version; the number makes it unique within a test. */
export const uuid = (version: 7 | 8, number: number): string =>
  `0198d5b2-7c1e-${version}000-8000-${number.toString(16).padStart(12, '0')}`

export const documentOf = (
  number: number,
  { id = uuid(7, number), receivedAt = timestampOf(NOW + number), message = `entry ${number}` } = {},
): EntryDocument =>
  applicationDocument({ id, receivedAt, timestamp: receivedAt, correlationKey: `flow-${number % 10}`, message })

export const documents = (count: number, from = 0): EntryDocument[] =>
  Array.from({ length: count }, (_, index) => documentOf(from + index))

export const EVERYTHING = entriesOf(TEAM)

/** The ids of every entry that a search finds, page by page. */
export async function storedIds(store: ElasticsearchLogStore): Promise<string[]> {
  const ids: string[] = []
  let after = null
  do {
    const page = await store.search(EVERYTHING, { limit: 1_000, order: 'asc', after })
    ids.push(...page.entries.map(({ id }) => id))
    after = page.next
  } while (after !== null)
  return ids
}
