import { type ErrorCode, type Problem, ProblemError, problem, problemSaying } from '../../shared/contract/errors.ts'
import type { EntryKind } from '../../shared/contract/records.ts'
import type { RequestMemory } from '../../shared/http/body-bytes.ts'
import type { Steps } from '../../shared/runtime/cooperative.ts'
import type { Metrics } from '../../shared/runtime/metrics.ts'
import type { Publication, PublishOutcome, TooLargeForTopic } from '../publisher/publication.ts'
import { type RecordRefusals, type Refusal, type RefusedRequest, withoutBody } from '../refusals/recorder.ts'
import type { BatchCheck, Check, Entries } from './checks.ts'
import type { Quotas } from './quotas.ts'
import { created, type Dialect, failed, type RefusedEntry, type Reply, unconfirmed } from './replies.ts'
import type { Received, SentEntries } from './request.ts'

/**
 * Handles a request whose body was read, in steps until its records are handed to the publisher, with the memory of the body. Throws a
 * `ProblemError` if the whole request is refused; any other error is a fault of ours. The promised reply does not keep the body alive:
 * under load, requests that wait for the journal would fill the memory.
 */
export type IngestHandler = (received: Received, memory: Pick<RequestMemory, 'hold'>) => Steps<Promise<Reply>>

export interface HandlerDeps {
  readonly ingestMetrics: IngestMetrics
  readonly recordRefusals: RecordRefusals
  readonly quotas: Pick<Quotas, 'take'>
  /** Maximum bytes of the records of one request; more would find room in the publisher's buffer only while nobody else has any. */
  readonly recordsBytesMax: number
  /** Publishes records of a Team to the endpoint's topic; resolves within a request's deadline, with one outcome per publication. */
  readonly publish: (team: string, publications: readonly Publication[]) => Promise<readonly PublishOutcome[]>
}

/**
 * Counts the outcomes of the requests and entries of one kind. Each entry that was checked counts once, as accepted or rejected; a request
 * refused before its entries were checked is counted separately.
 */
export interface IngestMetrics {
  accepted(entries: number): void
  rejected(code: ErrorCode): void
  requestRefused(code: ErrorCode): void
  /** Counts a limit that was applied and that no error code shows. */
  limited(reason: 'body_buffer' | 'hot_key'): void
}

export function createIngestMetrics(metrics: Metrics, kind: EntryKind): IngestMetrics {
  const accepted = metrics.counter('sluice_entries_accepted_total', { kind }).labels(kind)
  const rejected = metrics.counter('sluice_entries_rejected_total', { kind, code: 'server_error' })
  const refused = metrics.counter('sluice_requests_refused_total', { code: 'server_error' })
  const limits = metrics.counter('sluice_limited_total', { reason: ['body_buffer', 'hot_key'] })
  return {
    accepted: (entries) => accepted.inc(entries),
    rejected: (code) => rejected.inc({ kind, code }),
    requestRefused: (code) => refused.inc({ code }),
    limited: (reason) => limits.inc({ reason }),
  }
}

/** Handles a request with one entry. */
export function createEntryHandler(
  check: Check,
  { ingestMetrics, recordRefusals, quotas, publish }: HandlerDeps,
): IngestHandler {
  function refuse(request: RefusedRequest, cause: Problem): Reply {
    recordRefusals(request, [{ problem: cause }])
    ingestMetrics.rejected(cause.code)
    return failed(cause)
  }

  return function* handle(received) {
    const { value: admitted, problem: wrong } = check(received)
    if (wrong !== undefined) return Promise.resolve(refuse(received, wrong))
    const limited = quotas.take(admitted.team, 1, received.contentBytes)
    if (limited !== undefined) return Promise.resolve(refuse(received, limited))
    const { id, team, publication } = admitted
    const request = withoutBody(received)
    const { largest } = publication
    return publish(team, [publication]).then(([outcome]) => {
      const failure = failureOf(outcome, largest)
      if (failure !== undefined) return refuse(request, failure)
      ingestMetrics.accepted(1)
      return created(id)
    })
  }
}

/** Several entries in one request. */
interface Batch {
  readonly check: BatchCheck
  /** The entries as they were sent, by the index that `check` takes; called only if some were refused. */
  readonly sent: SentEntries
  readonly dialect: Dialect
}

/**
 * Handles a batch: its valid entries are published whatever happens to the others. While the journal writes, nothing here keeps the records
 * or the request in memory.
 */
export function createBatchHandler(
  { check, sent, dialect }: Batch,
  { ingestMetrics, recordRefusals, quotas, recordsBytesMax, publish }: HandlerDeps,
): IngestHandler {
  function finish(total: number, refused: readonly RefusedEntry[], { processed }: Dialect): Reply {
    for (const { problem } of refused) ingestMetrics.rejected(problem.code)
    ingestMetrics.accepted(total - refused.length)
    return processed(total, refused)
  }

  return function* handle(received, memory) {
    const { value: entries, problem: wrong } = check(received)
    if (wrong !== undefined) throw new ProblemError(wrong)
    const { team, count: total, dialect: dialectOfAnswer = dialect } = entries
    // Before the entries are checked, as that is most of the work.
    const limited = quotas.take(team, total, received.contentBytes)
    if (limited !== undefined) throw new ProblemError(limited)
    const { publications, refused, ...published } = yield* checkEach(entries, recordsBytesMax, memory)
    if (refused.length > 0) recordRefusals(received, refusalsOf(refused, sent(received)))
    const request = withoutBody(received)
    return publish(team, publications).then((outcomes) => {
      const failures = failuresOf(outcomes, published)
      if (failures.length > 0) recordRefusals(request, refusalsOf(failures))
      const all = [...refused, ...failures].sort((one, other) => one.index - other.index)
      return finish(total, all, dialectOfAnswer)
    })
  }
}

/** The entries of a batch that may be published, and those that are refused. */
interface Divided {
  readonly publications: readonly Publication[]
  /** The index in the batch of each publication. */
  readonly places: readonly number[]
  /** The field to shorten in each entry that is so large that its topic may not take it, by the index in the batch. */
  readonly largest: ReadonlyMap<number, string>
  readonly refused: readonly RefusedEntry[]
}

/** Entries that are checked per step; each can be a megabyte. */
const ENTRIES_OF_A_STEP = 4

/** Bytes of records that the memory of bodies does not count, so that an ordinary batch does not ask it for room. */
const UNCOUNTED_BYTES_MAX = 256 * 1024

/** The refusal of a batch for whose records there is no memory. */
export const NO_ROOM_FOR_RECORDS = problem(
  'server_error',
  { outcome: 'not_written' },
  'The entries take more memory than is free, each with its copy of what they share. Fewer in one request take less.',
)

const tooManyBytes = (limit: number): Problem =>
  problemSaying(
    'batch_too_large',
    `The entries come to more than ${limit.toLocaleString('en')} bytes, each with its copy of what they share. Split the batch.`,
    { limitBytes: limit },
  )

/**
 * Checks the entries. The records can take far more memory than the body, as those of OpenTelemetry repeat the attributes of their resource
 * and scope, so they are held against the memory of bodies until the publisher counts them.
 */
function* checkEach({ count, check }: Entries, bytesMax: number, memory: Pick<RequestMemory, 'hold'>): Steps<Divided> {
  let [bytes, counted] = [0, 0]
  const publications: Publication[] = []
  const places: number[] = []
  const largest = new Map<number, string>()
  const refused: RefusedEntry[] = []
  for (let index = 0; index < count; index += 1) {
    if (index % ENTRIES_OF_A_STEP === 0) yield
    const { value, problem } = check(index)
    if (problem !== undefined) {
      refused.push({ index, problem })
      continue
    }
    bytes += value.publication.bytes
    if (bytes > bytesMax) throw new ProblemError(tooManyBytes(bytesMax))
    if (bytes - counted > UNCOUNTED_BYTES_MAX) {
      if (!memory.hold(bytes - counted)) throw new ProblemError(NO_ROOM_FOR_RECORDS)
      counted = bytes
    }
    publications.push(value.publication)
    places.push(index)
    if (value.publication.largest !== undefined) largest.set(index, value.publication.largest)
  }
  return { publications, places, largest, refused }
}

/** The refusals with their entries as they were sent, if these are still known. */
const refusalsOf = (
  refused: readonly RefusedEntry[],
  sentAt: (index: number) => unknown = () => undefined,
): readonly Refusal[] =>
  refused.map(({ index, problem }) => ({ problem, place: { index, entry: () => sentAt(index) } }))

/** The entries that were not made durable, in their order. */
function failuresOf(
  outcomes: readonly PublishOutcome[],
  { places, largest }: Pick<Divided, 'places' | 'largest'>,
): readonly RefusedEntry[] {
  const failures: RefusedEntry[] = []
  for (const [published, index] of places.entries()) {
    const problem = failureOf(outcomes[published], largest.get(index))
    if (problem !== undefined) failures.push({ index, problem })
  }
  return failures
}

/** The problem of an entry that was not made durable. A missing outcome would be a fault of ours, and the entry may have been stored. */
function failureOf(outcome: PublishOutcome = 'uncertain', largest?: string): Problem | undefined {
  if (outcome === 'durable') return undefined
  return typeof outcome === 'object' ? tooLargeForTopic(outcome, largest) : unconfirmed(outcome)
}

function tooLargeForTopic({ bytesMax: limit }: TooLargeForTopic, largest: string | undefined): Problem {
  const what = largest === undefined ? 'the entry' : `its largest field, ${largest}`
  const message = `The entry's topic takes at most ${limit} bytes at once (max.message.bytes). Shorten ${what}, or have the operator raise that limit.`
  return problemSaying('entry_too_large', message, { limit, largest })
}
