import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Health } from '../../runtime/lifecycle.ts'
import { startThread } from '../../runtime/threads/thread.ts'
import { AppendError, TopicMissingError } from '../journal.ts'
import type { DatabaseOptions } from './database.ts'
import { JournalFileError } from './failures.ts'
import { openStore, type Store } from './store.ts'

/** The calls of a store, wherever it runs. */
export type AsyncStore = {
  readonly [Name in keyof Store]: (...args: Parameters<Store[Name]>) => Promise<Awaited<ReturnType<Store[Name]>>>
}

export interface StoreClient {
  readonly calls: AsyncStore
  /** Whether the store can be called at all. */
  health(): Health
  /** Lets the calls already made finish. Safe to call twice. */
  close(): Promise<void>
}

type Call = <Name extends keyof Store>(
  name: Name,
  args: Parameters<Store[Name]>,
) => Promise<Awaited<ReturnType<Store[Name]>>>

/** Loops over these would otherwise keep the thread from everything else when nothing in them waits. */
const CALLED_IN_LOOPS: readonly (keyof Store)[] = ['read', 'retain']

/** Opens the store in a thread of its own. */
export async function openStoreThread(options: DatabaseOptions): Promise<StoreClient> {
  const thread = await startThread<Store>({
    name: 'journal',
    module: new URL('./store-thread.ts', import.meta.url),
    data: options,
    errors: [AppendError, TopicMissingError, JournalFileError, RangeError],
  })
  const calls = asyncStore((name, args) => thread.call(name, args))
  return {
    calls: {
      ...calls,
      // Moved, not copied: nobody here needs the records any more.
      append: (packed, appendedAt) =>
        thread.call(
          'append',
          [packed, appendedAt],
          packed.batches.map(({ content }) => content.buffer),
        ),
    },
    health: thread.health,
    close: thread.close,
  }
}

/** Opens the store in this thread. */
export function openStoreHere(options: DatabaseOptions): StoreClient {
  const { calls, close } = openStore(options)
  let closed = false
  const call: Call = async (name, args) => {
    if (CALLED_IN_LOOPS.includes(name)) await nextTurn()
    if (closed) throw new Error('the journal is closed')
    return (calls[name] as (...given: typeof args) => never)(...args)
  }
  return {
    calls: asyncStore(call),
    health: () => ({ name: 'journal', ready: true }),
    close: async () => {
      closed = true
      close()
    },
  }
}

const asyncStore = (call: Call): AsyncStore => ({
  append: (...args) => call('append', args),
  createTopics: (...args) => call('createTopics', args),
  partitions: (...args) => call('partitions', args),
  topics: (...args) => call('topics', args),
  read: (...args) => call('read', args),
  join: (...args) => call('join', args),
  startPosition: (...args) => call('startPosition', args),
  commit: (...args) => call('commit', args),
  positions: (...args) => call('positions', args),
  changes: (...args) => call('changes', args),
  probe: (...args) => call('probe', args),
  retain: (...args) => call('retain', args),
  compact: (...args) => call('compact', args),
})
