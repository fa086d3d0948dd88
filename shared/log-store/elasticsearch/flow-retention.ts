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
  // Through the alias: a rebuild may replace the index, and another index has other versions.
  const linesOf = ({ _id, _seq_no: if_seq_no, _primary_term: if_primary_term }: VersionedHit<unknown>): Lines => [
    `${JSON.stringify({ delete: { _index: names.flows, _id, if_seq_no, if_primary_term } })}\n`,
  ]
  for (const stream of await shardsOf(connection, found, names)) {
    for await (const hits of pagesOf(connection, { stream, after: -1 }, { fields: false, filter, signal })) {
      await bulk.run(hits, linesOf, signal, { deletes: true, untilBlocked: true })
    }
  }
}
