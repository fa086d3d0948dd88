import type { EntryDocument } from '../../contract/documents.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Logger } from '../../runtime/logger.ts'
import { mostBytes } from '../../runtime/utf8.ts'
import type { WriteOutcome } from '../log-store.ts'
import type { Bulk } from './bulk.ts'
import type { Lines } from './bulk-chunks.ts'
import { entryBody } from './entry-body.ts'
import type { IndexNames } from './index-names.ts'
import { areNear, type Copy, mayBeOnOtherDays, type OtherDays } from './other-days.ts'
import { ONLY_MAPPED } from './outcome.ts'

/** Elasticsearch refuses the whole request for a single longer id. */
const ID_BYTES_MAX = 512

const ONLY_MAPPED_TEXT = JSON.stringify(ONLY_MAPPED).slice(1, -1)

interface Deps {
  readonly bulk: Bulk
  readonly otherDays: OtherDays
  readonly names: IndexNames
  readonly clock: Clock
  readonly logger: Logger
}

type WriteEntries = (documents: Iterable<EntryDocument>, signal: AbortSignal) => Promise<readonly WriteOutcome[]>

/**
 * Stores entries, each once. A record always leads to the same index and id, and `create` never overwrites, so anything may be resent. Ids
 * that may recur on another day are looked up before the write, so that the day that has them keeps them, and again after it, as two
 * writers may have looked at the same time: then the later day gives way. A writer that reads the records again does this too, since the
 * first one may have ended before its second lookup.
 */
export function createEntryWriter({ bulk, otherDays, names, clock, logger }: Deps): WriteEntries {
  const indexOf = (copy: Copy): string => names.day(copy.kind, dayOf(copy))

  let lastStamp = 0
  /** Microseconds since 1970, strictly increasing. */
  const stamp = (): number => {
    lastStamp = Math.max(lastStamp + 1, clock.now() * 1_000)
    return lastStamp
  }

  const create = (document: EntryDocument): Lines => [
    `{"create":{"_index":"${indexOf(document)}","_id":${JSON.stringify(document.id)},${ONLY_MAPPED_TEXT}}}\n`,
    ...entryBody(document, stamp()),
    '\n',
  ]

  /** Keeps each entry on the earliest of nearby days only; returns the keys of the copies that stay. */
  async function removeLater(found: readonly Copy[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { kept, surplus } = divided(found)
    if (surplus.length === 0) return kept
    logger.info({ documents: surplus.length }, 'entries that reached two days at once were removed from the later one')
    const remove = (copy: Copy): Lines => [
      `{"delete":{"_index":"${indexOf(copy)}","_id":${JSON.stringify(copy.id)}}}\n`,
    ]
    await bulk.run(surplus, remove, signal, { deletes: true })
    return kept
  }

  async function writeLookedUp(documents: readonly EntryDocument[], signal: AbortSignal): Promise<WriteOutcome[]> {
    const before = await bulk.persist(() => otherDays.find(documents, signal), documents.length, signal)
    const fresh = documents.filter((_, at) => before[at]?.length === 0)
    const written = await bulk.run(fresh, create, signal)
    const after = await bulk.persist(() => otherDays.find(fresh, signal), fresh.length, signal)
    // Before any outcome is returned: a record with an outcome is not read again, so nobody else would notice.
    const kept = await removeLater([...before, ...after].flat(), signal)
    let next = 0
    return documents.map((document, at): WriteOutcome => {
      if (before[at]?.length !== 0) return { outcome: 'duplicate' }
      const outcome = written[next++] as WriteOutcome
      return outcome.outcome === 'stored' && !kept.has(keyOf(document)) ? { outcome: 'duplicate' } : outcome
    })
  }

  return async function write(documents, signal) {
    signal.throwIfAborted()
    const outcomes: WriteOutcome[] = []
    const plain: number[] = []
    const lookedUp: { readonly position: number; readonly document: EntryDocument }[] = []
    /** Drops each document as soon as it is sent; keeps only those to look up. */
    function* plainOnes(): Generator<EntryDocument, void> {
      let position = 0
      for (const document of documents) {
        if (!isId(document.id))
          outcomes[position] = { outcome: 'refused', reason: `an id has 1 to ${ID_BYTES_MAX} bytes` }
        else if (mayBeOnOtherDays(document.id)) lookedUp.push({ position, document })
        else {
          plain.push(position)
          yield document
        }
        position += 1
      }
    }
    const ofPlain = await bulk.run(plainOnes(), create, signal)
    for (const [index, position] of plain.entries()) outcomes[position] = ofPlain[index] as WriteOutcome
    if (lookedUp.length === 0) return outcomes
    const ofLookedUp = await writeLookedUp(
      lookedUp.map(({ document }) => document),
      signal,
    )
    for (const [index, { position }] of lookedUp.entries()) outcomes[position] = ofLookedUp[index] as WriteOutcome
    return outcomes
  }
}

/** Names a document: an entry on a day. */
const keyOf = (copy: Copy): string => `${copy.kind} ${dayOf(copy)} ${copy.id}`

const dayOf = ({ receivedAt }: Copy): string => receivedAt.slice(0, 10)

/** Divides the copies of entries into those on the earliest of nearby days, by their keys, and the later ones. */
function divided(found: readonly Copy[]): { readonly kept: ReadonlySet<string>; readonly surplus: readonly Copy[] } {
  const kept = new Set<string>()
  const surplus: Copy[] = []
  const copies = new Map(found.map((copy) => [keyOf(copy), copy])).values()
  for (const ofEntry of Map.groupBy(copies, ({ kind, id }) => `${kind} ${id}`).values()) {
    let stays: Copy | undefined
    for (const copy of ofEntry.toSorted((a, b) => (a.receivedAt < b.receivedAt ? -1 : 1))) {
      if (stays !== undefined && areNear(stays.receivedAt, copy.receivedAt)) surplus.push(copy)
      else {
        stays = copy
        kept.add(keyOf(copy))
      }
    }
  }
  return { kept, surplus }
}

const isId = (id: string): boolean =>
  id !== '' && (mostBytes(id) <= ID_BYTES_MAX || Buffer.byteLength(id) <= ID_BYTES_MAX)
