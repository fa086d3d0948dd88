import type { Origin } from '../../shared/log-store/elasticsearch/checkpoints.ts'
import type { Connection, ElasticsearchRequest } from '../../shared/log-store/elasticsearch/connection.ts'

export interface ServedShard {
  readonly index: string
  /** Starts with at least six characters that identify the index. */
  readonly uuid: string
  /** The number of the last operation that is on every copy; -1 if there is none. */
  end: number
  /** The number of operations after `end` that may not be on every copy. */
  unconfirmed?: number
  /** The shard that it was rebuilt from. */
  readonly origin?: Origin
  /** Whether the index is removed between a report and the searches after it. */
  readonly goes?: boolean
  /** Elasticsearch's shard state, or `CLOSED` for a closed index. */
  state: 'STARTED' | 'INITIALIZING' | 'UNASSIGNED' | 'CLOSED'
}

export interface ShardServer {
  readonly connection: Connection
  /** Indices with one shard each; may be changed at any time. */
  readonly shards: ServedShard[]
  /** The number of requests of each kind. */
  readonly asked: { stats: number; settings: number; refresh: number; mapping: number; search: number }
  /** The last operation that searches see, by index. */
  readonly visible: ReadonlyMap<string, number>
  /** Makes every request fail from now on, or succeed again. */
  fail(on: boolean): void
  /** Ends every search before its first hit from now on, as the cluster's limit of their time does, or no longer. */
  endEarly(on: boolean): void
  /** The number of copies that no refresh reaches from now on. */
  loseRefreshes(copies: number): void
}

/** Elasticsearch's default limit of a request's line, roughly. */
const LINE_BYTES_MAX = 4_000

/**
 * Elasticsearch's reports on its shards, in states that a real server passes through too quickly for tests. Every operation of a shard is
 * an entry whose id contains its index and number. Responses are sent one turn of the event loop later.
 */
export function serveShards(...shards: ServedShard[]): ShardServer {
  const asked = { stats: 0, settings: 0, refresh: 0, mapping: 0, search: 0 }
  const visible = new Map<string, number>()
  let failing = false
  let endsEarly = false
  let unreached = 0

  function answer({ path, lines }: ElasticsearchRequest): unknown {
    if (path.length > LINE_BYTES_MAX) throw new Error('too_long_http_line_exception')
    const names = (path.split('/')[1] ?? '').split(',')
    const isNamed = ({ index }: ServedShard): boolean =>
      names.some((name) => (name.endsWith('*') ? aliasOf(index).startsWith(name.slice(0, -1)) : index === name))
    if (path.includes('/_settings')) {
      asked.settings += 1
      return Object.fromEntries(shards.map((shard) => [shard.index, settingsOf(shard)]))
    }
    if (path.includes('/_stats')) {
      asked.stats += 1
      const assigned = shards.filter(({ state }) => state === 'STARTED' || state === 'INITIALIZING')
      return { indices: Object.fromEntries(assigned.map((shard) => [shard.index, statsOf(shard)])) }
    }
    if (path.includes('/_refresh')) {
      asked.refresh += 1
      for (const { index, end } of shards.filter(isNamed)) visible.set(index, end)
      return { _shards: { failed: unreached } }
    }
    if (path.includes('/_mapping')) {
      asked.mapping += 1
      const rebuilt = shards.filter(isNamed).flatMap(({ index, origin }) => (origin ? [[index, origin]] : []))
      return Object.fromEntries(
        rebuilt.map(([index, origin]) => [index, { mappings: { _meta: { origins: [origin] } } }]),
      )
    }
    asked.search += 1
    if (endsEarly) return { responses: searchesIn(String(lines)).map(({ partial }) => endedEarly(partial)) }
    const going = shards.findIndex(({ goes }) => goes)
    const [gone] = going < 0 ? [] : shards.splice(going, 1)
    return {
      responses: searchesIn(String(lines)).map(({ index, gt, lte }) =>
        index === gone?.index ? { status: 200, _shards: { total: 0 } } : hitsOf(index, gt, lte),
      ),
    }
  }

  return {
    connection: {
      async send<Answer>(request: ElasticsearchRequest) {
        const found = answer(request)
        await new Promise(setImmediate)
        if (failing) throw new Error('down')
        return found as Answer
      },
      close: async () => undefined,
    },
    shards,
    asked,
    visible,
    fail(on) {
      failing = on
    },
    endEarly(on) {
      endsEarly = on
    },
    loseRefreshes(copies) {
      unreached = copies
    },
  }
}

/** The name of a day, by which a rebuilt index is found too. */
const aliasOf = (index: string): string => index.replace(/\.\d+-/, '-')

const settingsOf = ({ uuid, state }: ServedShard): object => ({
  settings: {
    index: { uuid, number_of_shards: '1', ...(state === 'CLOSED' && { verified_before_close: 'true' }) },
  },
})

/** A recovering primary reports an earlier checkpoint. */
const statsOf = ({ uuid, state, end, unconfirmed = 0 }: ServedShard): object => {
  const checkpoint = state === 'INITIALIZING' ? Math.floor(end / 2) : end
  const numbers = { global_checkpoint: checkpoint, max_seq_no: end + unconfirmed }
  return { uuid, shards: { 0: [{ routing: { primary: true, state }, seq_no: numbers }] } }
}

interface Search {
  readonly index: string
  readonly gt: number
  readonly lte: number
  /** Whether a part of the hits is an answer. */
  readonly partial: boolean
}

function searchesIn(lines: string): Search[] {
  const parts = lines.split('\n').slice(0, -1)
  return parts.flatMap((line, at) => {
    if (at % 2 === 1) return []
    const range = /"_seq_no":\{"gt":(-?\d+),"lte":(\d+)\}/.exec(parts[at + 1] ?? '')
    const { index, allow_partial_search_results: partial = true } = JSON.parse(line)
    return [{ index, gt: Number(range?.[1]), lte: Number(range?.[2]), partial }]
  })
}

const endedEarly = (partial: boolean): object =>
  partial
    ? { status: 200, hits: { hits: [] } }
    : { status: 429, error: { type: 'search_phase_execution_exception', reason: 'all shards failed' } }

function hitsOf(index: string, gt: number, lte: number): object {
  const numbers = Array.from({ length: lte - gt }, (_, at) => gt + 1 + at)
  const hits = numbers.map((number) => ({
    _source: { source: JSON.stringify({ id: `${index}#${number}` }), writtenAt: number },
    sort: [number],
  }))
  return { status: 200, hits: { hits } }
}
