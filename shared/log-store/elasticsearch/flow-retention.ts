import type { Bulk } from './bulk.ts'
import type { Lines } from './bulk-chunks.ts'
import type { Connection } from './connection.ts'
import { pagesOf, shardsOf, type VersionedHit } from './index-copy.ts'
import type { IndexNames } from './index-names.ts'
import { indexBehind } from './indices.ts'

/**
 * Removes the summaries of flows whose last entry arrived before the day (yyyy-mm-dd). A summary that gained an entry since it was read is
 * kept, as the deletion names the version that was read. Rejects if a rebuild replaces the index between two pages, and if writes are
 * blocked: a full disk may need the removal of further days, which would wait behind this one.
 */
export async function removeFlowsBefore(
  connection: Connection,
  bulk: Bulk,
  names: IndexNames,
  day: string,
  signal: AbortSignal,
): Promise<void> {
  const found = await indexBehind(connection, names.flows)
  if (found === undefined) return
  const filter = { range: { lastDay: { lt: day } } }
  for (const stream of await shardsOf(connection, found, names)) {
    for await (const hits of pagesOf(connection, { stream, after: -1 }, { fields: false, filter, signal })) {
      const lines = (hit: VersionedHit<unknown>): Lines => [`${JSON.stringify(deletion(names.flows, hit))}\n`]
      await bulk.run(hits, lines, signal, { deletes: true, untilBlocked: true })
    }
  }
}

/** Deletes through the alias: a rebuild may replace the index. Another index has other versions. */
const deletion = (_index: string, { _id, _seq_no, _primary_term }: VersionedHit<unknown>): object => ({
  delete: { _index, _id, if_seq_no: _seq_no, if_primary_term: _primary_term },
})
