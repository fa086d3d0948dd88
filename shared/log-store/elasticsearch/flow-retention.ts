import type { Bulk } from './bulk.ts'
import type { Connection } from './connection.ts'
import type { IndexNames } from './index-names.ts'

const FLOWS_PER_ROUND = 1_000

/**
 * Removes the summaries of flows whose last entry arrived before the day (yyyy-mm-dd). A summary that gained an entry since it was read is
 * kept, as the deletion names the version that was read.
 */
export async function removeFlowsBefore(
  connection: Connection,
  bulk: Bulk,
  { flows }: IndexNames,
  day: string,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const { hits } = await connection.send<FlowHits>({
      method: 'POST',
      path: `/${flows}/_search`,
      query: { ignore_unavailable: true, allow_partial_search_results: false },
      body: {
        query: { range: { lastDay: { lt: day } } },
        size: FLOWS_PER_ROUND,
        sort: ['_doc'],
        _source: false,
        seq_no_primary_term: true,
      },
      signal,
    })
    const settled = await bulk.run(hits.hits, (hit) => [`${JSON.stringify(deletion(hit))}\n`], signal)
    if (hits.hits.length < FLOWS_PER_ROUND || settled.every(({ outcome }) => outcome !== 'stored')) return
    await connection.send({ method: 'POST', path: `/${flows}/_refresh`, signal })
  }
}

interface FlowHit {
  readonly _index: string
  readonly _id: string
  readonly _seq_no: number
  readonly _primary_term: number
}
interface FlowHits {
  readonly hits: { readonly hits: readonly FlowHit[] }
}

const deletion = ({ _index, _id, _seq_no, _primary_term }: FlowHit): object => ({
  delete: { _index, _id, if_seq_no: _seq_no, if_primary_term: _primary_term },
})
