import { setTimeout as pause } from 'node:timers/promises'
import { API_KEY, BATCH_ENTRIES, entry, PROJECT } from '../entries.ts'
import { quantile } from '../load.ts'
import { BATCH_KEYED, send, startRole } from './programs.ts'
import type { Server } from './servers.ts'

export interface SearchableRig {
  readonly broker: Server
  readonly elasticsearch: Server
  readonly seconds: number
}

/** The time from an entry's response until a search finds it, beside a load of other entries. */
export interface Searchable {
  readonly entriesPerSecond: number
  readonly probes: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Requests of the load and the probes without a successful response, plus entries not found in time. */
  readonly failed: number
}

const PROBE_EVERY_MS = 100
const LOOK_EVERY_MS = 50
const FOUND_WITHIN_MS = 30_000
const WARM_UP_SECONDS = 3

export async function measureSearchable(
  prefix: string,
  entriesPerSecond: number,
  { broker, elasticsearch, seconds }: SearchableRig,
): Promise<Searchable> {
  const options = { prefix, broker: broker.address, elasticsearchUrl: elasticsearch.address }
  const consumers = await startRole('consumers', options)
  const gateway = await startRole('gateway', options)
  try {
    const rate = entriesPerSecond / BATCH_ENTRIES
    await send(gateway, BATCH_KEYED, { seconds: WARM_UP_SECONDS, rate })
    const ended = new AbortController()
    const probing = probe(gateway.url, `${elasticsearch.address}/${prefix}-application-logs-*`, ended.signal)
    const { failed } = await send(gateway, BATCH_KEYED, { seconds, rate })
    ended.abort()
    const { waits, lost } = await probing
    return {
      entriesPerSecond,
      probes: waits.length,
      p50Ms: quantile(waits, 0.5),
      p99Ms: quantile(waits, 0.99),
      failed: failed + lost,
    }
  } finally {
    await gateway.stop()
    await consumers.stop()
  }
}

/** Sends single entries until `ended`, then waits for those not yet found. */
async function probe(gatewayUrl: string, indices: string, ended: AbortSignal) {
  const waiting = new Map<string, number>()
  const waits: number[] = []
  let lost = 0
  const send = async (): Promise<void> => {
    const answer = await fetch(`${gatewayUrl}/api/ApplicationLogs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': API_KEY },
      body: JSON.stringify({ uniqueIdentifier: PROJECT, ...entry(1) }),
    })
    const { data } = (await answer.json()) as { readonly data?: { readonly id: string } }
    if (data === undefined) lost += 1
    else waiting.set(data.id, performance.now())
  }
  const look = async (): Promise<void> => {
    const now = performance.now()
    const ids = [...waiting.keys()]
    const { hits } = await search(indices, { size: ids.length, _source: false, query: { terms: { id: ids } } })
    for (const { _id } of hits.hits) {
      waits.push(now - (waiting.get(_id) ?? now))
      waiting.delete(_id)
    }
  }
  const sending = setInterval(() => {
    send().catch(() => {
      lost += 1
    })
  }, PROBE_EVERY_MS)
  const looking = async (goesOn: () => boolean): Promise<void> => {
    while (goesOn()) {
      if (waiting.size > 0) await look()
      await pause(LOOK_EVERY_MS)
    }
  }
  await looking(() => !ended.aborted)
  clearInterval(sending)
  const end = performance.now() + FOUND_WITHIN_MS
  await looking(() => waiting.size > 0 && performance.now() < end)
  return { waits: waits.sort((a, b) => a - b), lost: lost + waiting.size }
}

async function search(indices: string, body: object) {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${indices}/_search`, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await answer.json()) as { readonly hits: { readonly hits: readonly { readonly _id: string }[] } }
}
