import { type LogStoreWriter, StoreHaltError, type WriteOutcome } from '../../shared/log-store/log-store.ts'
import { pause, unlessAborted } from '../../shared/runtime/waiting.ts'
import { CallError, type Network, type Process } from './network.ts'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_000
/** One item in this many of bulk requests has to be resent, and one request in this many halts the consumer. */
const ITEM_FAILS_IN = 6
const HALT_IN = 150
const never = new AbortController().signal

/** A process's view of a log store's writing half over the network; the store behind it never fails. */
export function createSimulatedStore(network: Network, process: Process, store: LogStoreWriter): LogStoreWriter {
  const halts = network.random.oneIn(3)

  /** Sends the items until each has a result: bulk requests fail partially, as in Elasticsearch. */
  async function send<Item, Result>(
    what: string,
    items: readonly Item[],
    signal: AbortSignal,
    effect: (items: readonly Item[]) => Promise<readonly Result[]>,
  ): Promise<readonly Result[]> {
    const results: Result[] = []
    const open = new Set(items.keys())
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      signal.throwIfAborted()
      if (halts && network.fails(HALT_IN)) throw new StoreHaltError('an operator has to act')
      const places = [...open].filter(() => !network.fails(ITEM_FAILS_IN))
      const taken = places.map((place) => items[place] as Item)
      const called = network.call(process, 'store', `${what} ${taken.length} of ${open.size}`, () => effect(taken))
      const answered = await unlessAborted(called, signal).catch((error: unknown) => {
        if (error instanceof CallError) return []
        throw error
      })
      for (const [index, result] of answered.entries()) {
        const place = places[index] as number
        results[place] = result
        open.delete(place)
      }
      if (open.size === 0) return results
      await pause(pauseMs, signal)
    }
  }

  return {
    searchableWithinMs: store.searchableWithinMs,
    write: async (documents, signal) => {
      signal.throwIfAborted()
      const outcomes: WriteOutcome[] = []
      // Each request is sent before the documents of the next one are prepared.
      for (const piece of piecesOf(documents, () => network.random.between(1, 4)))
        outcomes.push(...(await send('stores', piece, signal, (items) => store.write(items, never))))
      return outcomes
    },
    mergeFlows: async (deltas, signal) => {
      signal.throwIfAborted()
      if (deltas.length === 0) return
      await send('merges flows', deltas, signal, async (items) => {
        await store.mergeFlows(items, never)
        return items
      })
    },
    removeBefore: (day) => store.removeBefore(day),
  }
}

function* piecesOf<Item>(items: Iterable<Item>, sizeOf: () => number): Generator<readonly Item[]> {
  let piece: Item[] = []
  let size = sizeOf()
  for (const item of items) {
    piece.push(item)
    if (piece.length < size) continue
    yield piece
    piece = []
    size = sizeOf()
  }
  if (piece.length > 0) yield piece
}
