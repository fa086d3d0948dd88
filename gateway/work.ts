import type { Checked, Problem } from '../shared/errors.ts'
import type { BodyFormat } from '../shared/http/body.ts'
import type { Admitted } from './admit.ts'
import type { BatchCheck } from './application-log.ts'
import type { Check } from './checks.ts'
import type { Work } from './endpoint.ts'
import type { Publication, PublishOutcome } from './publisher/publication.ts'
import type { NoteOfEndpoint, Refusal } from './refusals/notes.ts'
import { created, type Dialect, failed, type RefusedEntry, type Reply, unconfirmed } from './replies.ts'
import type { Tally } from './tally.ts'

export interface WorkDeps {
  readonly tally: Tally
  readonly note: NoteOfEndpoint
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

  return (received) => {
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
  /** The entries as they were sent, in the order in which the check gives them back; asked for where some were refused. */
  readonly entriesOf: (json: unknown) => readonly unknown[]
  readonly dialect: Dialect
}

/** Logs in a form that was made elsewhere: how bodies are read, and what becomes of them. */
export interface ForeignFormat {
  readonly format: BodyFormat
  readonly batch: Batch
}

/** Works off a batch: what can be published is, whatever becomes of the other entries. */
export function workBatch({ check, entriesOf, dialect }: Batch, { tally, note, publish }: WorkDeps): Work {
  async function finish({ value: entries, problem }: Checked<readonly Checked<Admitted>[]>): Promise<Reply> {
    if (problem !== undefined) {
      tally.requestRefused(problem.code)
      return dialect.failed(problem)
    }
    const outcomes = await publish(entries.flatMap(({ value }) => (value === undefined ? [] : [value.publication])))
    const refused: RefusedEntry[] = []
    let published = 0
    for (const [index, entry] of entries.entries()) {
      const cause = entry.problem ?? failureOf(outcomes[published++])
      if (cause !== undefined) refused.push({ index, problem: cause })
    }
    for (const entry of refused) tally.rejected(entry.problem.code)
    tally.accepted(entries.length - refused.length)
    return dialect.processed(entries.length, refused)
  }

  return async (received) => {
    const checked = check(received)
    const refusals = refusalsOf(checked, () => entriesOf(received.json))
    if (refusals.length > 0) note(received, refusals)
    return finish(checked)
  }
}

/** What the checks refused: the whole batch, or some of its entries. */
function refusalsOf(
  { value: checked, problem }: Checked<readonly Checked<Admitted>[]>,
  sent: () => readonly unknown[],
): readonly Refusal[] {
  if (problem !== undefined) return [{ problem }]
  const refusals: Refusal[] = []
  let entries: readonly unknown[] | undefined
  for (let index = 0; index < checked.length; index += 1) {
    const refused = checked[index]?.problem
    if (refused === undefined) continue
    entries ??= sent()
    refusals.push({ problem: refused, place: { index, entry: entries[index] } })
  }
  return refusals
}

/** Why an entry was not made durable. A missing outcome would be a fault of ours, and the entry may be there. */
const failureOf = (outcome: PublishOutcome = 'uncertain'): Problem | undefined =>
  outcome === 'durable' ? undefined : unconfirmed(outcome)
