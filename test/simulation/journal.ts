import {
  AppendError,
  type Journal,
  type JournalRecord,
  type PartitionBatch,
  type SubscribeOptions,
  type Subscription,
} from '../../shared/journal/journal.ts'
import { CallError, type Network, type Process, wait } from './network.ts'

/** A process's view of the journal over the network. */
export interface SimulatedJournal extends Journal {
  /** Makes the group consider the process dead; the process learns of it later and rejoins. */
  expel(): void
}

export interface JournalDeps {
  readonly network: Network
  readonly process: Process
  /** The journal behind the network, which never fails. */
  readonly journal: Journal
  /** Called when a position was committed. */
  readonly onCommitted?: (group: string, topic: string, partition: number, position: number) => void
}

type Handler = (batch: PartitionBatch) => Promise<void>

/** The session timeout of group members, and the maximum delay until an expelled member learns of it; in milliseconds. */
const SESSION_MS = 5_000
const UNAWARE_MS = 4_000
/** One commit in this many comes from a member that the group has just expelled. */
const EXPELLED_IN = 40
/** One batch in this many reaches a follower late. */
const LATE_IN = 10

export function createSimulatedJournal(deps: JournalDeps): SimulatedJournal {
  const { network, process, journal } = deps
  const memberships = new Set<Membership>()
  const call = <T>(what: string, effect: () => Promise<T>): Promise<T> => network.call(process, 'journal', what, effect)
  async function* scanned(topic: string, from?: number): AsyncGenerator<JournalRecord> {
    const records: JournalRecord[] = []
    await call(`scans ${topic}`, async () => {
      for await (const record of journal.scan(topic, from)) records.push(record)
    })
    yield* records
  }
  const expel = (): void => {
    for (const membership of memberships) void membership.expel(network.random.int(UNAWARE_MS))
  }
  return {
    ...journal,
    expel,
    append: async ({ topic, partition, records }) => {
      const batch = { topic, partition, records: [...records] }
      const what = `appends ${batch.records.length} to ${topic}/${partition}`
      try {
        await call(what, () => journal.append(batch))
      } catch (error) {
        throw error instanceof CallError ? new AppendError(error.message, error.outcome, { cause: error }) : error
      }
    },
    scan: scanned,
    follow: async (topic, onRecords) => {
      await call(`follows ${topic}`, async () => undefined)
      let delivered = Promise.resolve()
      let isOpen = true
      const follower = await journal.follow(topic, (records) => {
        delivered = delivered.then(async () => {
          await network.travel(network.fails(LATE_IN))
          if (isOpen && process.isAlive) onRecords(records)
        })
      })
      await delivered
      const close = async (): Promise<void> => {
        isOpen = false
        await follower.close()
      }
      void process.died.then(close)
      return { outdated: follower.outdated, close }
    },
    partitionCount: (topic) => call(`counts partitions of ${topic}`, () => journal.partitionCount(topic)),
    positions: (topic, group) => call(`reads positions of ${group} in ${topic}`, () => journal.positions(topic, group)),
    subscribe: async (options, handler) => {
      await call(`joins ${options.group}`, async () => undefined)
      const membership = createMembership(options, handler, deps)
      memberships.add(membership)
      await membership.join()
      return membership
    },
  }
}

interface Membership extends Subscription {
  join(): Promise<void>
  /** Revokes the partitions without waiting for the handlers; the process learns of it after `unawareMs`. */
  expel(unawareMs: number): Promise<void>
}

function createMembership(
  options: SubscribeOptions,
  handler: Handler,
  { network, process, journal, onCommitted }: JournalDeps,
): Membership {
  const { group } = options
  const done = Promise.withResolvers<void>()
  // A member that failed does not come back by itself.
  done.promise.catch(() => {
    isClosed = true
  })
  const working = new Set<Promise<void>>()
  let expelled = Promise.withResolvers<void>()
  let unawareMs = 0
  /** The membership, which may have to wait for others to leave; undefined while the member is expelled. */
  let joining: Promise<Subscription> | undefined
  let inner: Subscription | undefined
  let isClosed = false

  /** Handles one batch: `batch.signal` is the group's state, and `told.signal` what the process knows of it. */
  async function handle(batch: PartitionBatch, gone: Promise<void>): Promise<void> {
    const { topic, partition, signal, records } = batch
    const told = new AbortController()
    const tell = async (): Promise<void> => {
      await (joining === undefined ? wait(unawareMs) : network.travel())
      told.abort(signal.reason)
    }
    signal.addEventListener('abort', () => void tell(), { once: true })
    await network.travel()
    if (signal.aborted) return
    // The group revokes the partition before it continues without the handler.
    const taken = gone.then(() => aborted(signal))
    if (!process.isAlive) return taken
    const commit = async (position: number): Promise<void> => {
      if (told.signal.aborted) return
      if (network.fails(EXPELLED_IN)) void expel(network.random.int(UNAWARE_MS))
      await network.call(process, 'journal', `commits ${position} of ${topic}/${partition} for ${group}`, async () => {
        if (signal.aborted && joining === undefined) throw new Error('the group does not know the member any more')
        // A known member learns from the answer that its partition was revoked.
        if (signal.aborted) return told.abort(signal.reason)
        await batch.commit(position)
        onCommitted?.(group, topic, partition, position)
      })
    }
    const work = handler({ topic, partition, records, endPosition: batch.endPosition, signal: told.signal, commit })
    const ended = work.catch((error: unknown) => {
      if (joining === undefined && !told.signal.aborted) done.reject(error)
    })
    working.add(ended)
    void ended.then(() => working.delete(ended))
    await Promise.race([work, taken])
  }

  async function join(): Promise<void> {
    expelled = Promise.withResolvers()
    const gone = expelled.promise
    const joined = journal.subscribe(
      {
        ...options,
        onAssigned: (partitions, cause) => {
          if (process.isAlive) options.onAssigned?.(partitions, cause)
        },
      },
      (batch) => handle(batch, gone),
    )
    joining = joined
    const member = await joined
    inner = member
    member.done.then(
      () => {
        if (joining === joined) done.resolve()
      },
      (error: unknown) => done.reject(error),
    )
  }

  async function expel(ms: number): Promise<void> {
    if (joining === undefined || isClosed) return
    unawareMs = ms
    await leave()
    await Promise.all(working)
    if (process.isAlive && !isClosed) await join()
  }

  async function leave(): Promise<void> {
    const left = joining
    joining = undefined
    expelled.resolve()
    await (await left)?.close()
  }

  void process.died.then(async () => {
    await wait(SESSION_MS)
    await leave()
  })

  return {
    done: done.promise,
    join,
    expel,
    health: () => inner?.health() ?? { name: `group ${group}`, ready: false, reason: 'not a member' },
    close: async () => {
      isClosed = true
      await (await joining)?.close()
      await Promise.all(working)
      done.resolve()
    },
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
