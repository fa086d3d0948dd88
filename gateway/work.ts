import type { Problem } from '../shared/errors.ts'
import type { Steps } from '../shared/runtime/cooperative.ts'
import type { BatchCheck, Entries } from './application-log.ts'
import type { Check } from './checks.ts'
import type { BodyFormat, Work } from './endpoint.ts'
import type { IngestMetrics } from './ingest-metrics.ts'
import type { Publication, PublishOutcome } from './publisher/publication.ts'
import type { RecordRefusals, Refusal } from './refusals/recorder.ts'
import { created, type Dialect, failed, type RefusedEntry, type Reply, unconfirmed } from './replies.ts'
import type { SentEntries } from './sent-entries.ts'

export interface WorkDeps {
  readonly tally: IngestMetrics
  readonly note: RecordRefusals
  /** Publishes to the endpoint's topic; resolves within the deadline of a request, one outcome each. */
  readonly publish: (publications: readonly Publication[]) => Promise<readonly PublishOutcome[]>
}

/** Works off a request that is one entry. */
export function workSingle(check: Check, { tally, note, publish }: WorkDeps): Work {
  function finish(id: string, outcome: PublishOutcome | undefined): Reply {
    const failure = failureOf(outcome)
    if (failure !== undefined) return refuse(failure)
    tally.accepted(1)
    return created(id)
  }

  function refuse(problem: Problem): Reply {
    tally.rejected(problem.code)
    return failed(problem)
  }

  return function* work(received) {
    const checked = check(received)
    if (checked.problem !== undefined) {
      note(received, [checked])
      return Promise.resolve(refuse(checked.problem))
    }
    const { id, publication } = checked.value
    return publish([publication]).then(([outcome]) => finish(id, outcome))
  }
}

/** Several entries in one request. */
export interface Batch {
  readonly check: BatchCheck
  /** By the places in which the check gives the entries back; asked for where some were refused. */
  readonly sent: SentEntries
  readonly dialect: Dialect
}

/** Logs in a form that was made elsewhere: how bodies are read, and what becomes of them. */
export interface ForeignFormat {
  readonly format: BodyFormat
  readonly batch: Batch
}

/**
 * Works off a batch: what can be published is, whatever becomes of the other entries. While the journal has them, nothing here
 * keeps the records, or the request.
 */
export function workBatch({ check, sent, dialect }: Batch, { tally, note, publish }: WorkDeps): Work {
  function refuseAll(problem: Problem): Reply {
    tally.requestRefused(problem.code)
    return dialect.failed(problem)
  }

  function finish(total: number, refused: readonly RefusedEntry[]): Reply {
    for (const { problem } of refused) tally.rejected(problem.code)
    tally.accepted(total - refused.length)
    return dialect.processed(total, refused)
  }

  return function* work(received) {
    const { value: entries, problem } = check(received)
    if (problem !== undefined) {
      note(received, [{ problem }])
      return Promise.resolve(refuseAll(problem))
    }
    const total = entries.count
    const { publications, places, refused } = yield* judge(entries)
    if (refused.length > 0) note(received, refusalsOf(refused, sent(received)))
    return publish(publications).then((outcomes) => finish(total, withFailures(refused, outcomes, places)))
  }
}

interface Sorted {
  readonly publications: readonly Publication[]
  /** Where in the batch each publication stood. */
  readonly places: readonly number[]
  readonly refused: readonly RefusedEntry[]
}

/** Entries that are judged in one step; each can be a megabyte. */
const ENTRIES_OF_A_STEP = 4

function* judge({ count, check }: Entries): Steps<Sorted> {
  const publications: Publication[] = []
  const places: number[] = []
  const refused: RefusedEntry[] = []
  for (let index = 0; index < count; index += 1) {
    if (index % ENTRIES_OF_A_STEP === 0) yield
    const { value, problem } = check(index)
    if (problem !== undefined) {
      refused.push({ index, problem })
      continue
    }
    publications.push(value.publication)
    places.push(index)
  }
  return { publications, places, refused }
}

/** With the entries as they were sent. */
const refusalsOf = (refused: readonly RefusedEntry[], sentAt: (index: number) => unknown): readonly Refusal[] =>
  refused.map(({ index, problem }) => ({ problem, place: { index, entry: () => sentAt(index) } }))

/** The entries that were refused or were not made durable, in their order. */
function withFailures(
  refused: readonly RefusedEntry[],
  outcomes: readonly PublishOutcome[],
  places: readonly number[],
): readonly RefusedEntry[] {
  const all = [...refused]
  for (const [published, index] of places.entries()) {
    const problem = failureOf(outcomes[published])
    if (problem !== undefined) all.push({ index, problem })
  }
  return all.sort((one, other) => one.index - other.index)
}

/** Why an entry was not made durable. A missing outcome would be a fault of ours, and the entry may be there. */
const failureOf = (outcome: PublishOutcome = 'uncertain'): Problem | undefined =>
  outcome === 'durable' ? undefined : unconfirmed(outcome)
