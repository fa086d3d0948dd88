import { ProblemError } from '../../shared/contract/errors.ts'
import { AppendError, type Journal } from '../../shared/journal/journal.ts'
import { CHANGES } from '../../views/team/register.ts'
import { createSerialQueue } from '../../views/team/serial-queue.ts'
import type { MemoryJournal } from '../support/memory-journal.ts'
import { createSimulatedJournal } from './journal.ts'
import { CallError, type Network, never, type Process, wait } from './network.ts'
import { order, supervise } from './processes.ts'
import type { World } from './world.ts'

export interface Place {
  readonly world: World
  readonly network: Network
  readonly journal: MemoryJournal
}

/** A change that sets fields, such as `event/order name`, each to one value. */
export interface Draft<Tools> {
  readonly writes: Readonly<Record<string, unknown>>
  readonly work: (tools: Tools) => Promise<unknown>
  readonly onMade?: (result: never) => void
}

export interface Told extends Pick<Draft<never>, 'writes'> {
  readonly what: string
  readonly begunAt: number
  /** A change of which nothing is known may be made at any time. */
  endedAt: number
  answered: 'made' | 'not_made' | 'overtaken' | 'unknown'
}

export interface ChangesDeps<Tools> {
  /** Starts what a replica of the views changes with. */
  readonly open: (journal: Journal, process: Process) => Promise<Tools>
  readonly draft: (name: string) => Draft<Tools>
}

/** Some replicas, each of which makes one change at a time, and members who ask any of them for changes. Resolves when all are answered. */
export async function runChanges<Tools>(place: Place, { open, draft }: ChangesDeps<Tools>): Promise<readonly Told[]> {
  const { network, world } = place
  const { random } = network
  const all: Told[] = []
  const pauseMs = random.pick([20, 200, 6_000])
  const replicas = ['views-0', 'views-1'].map((name) => runReplica(place, name, open))

  async function runMember(name: string): Promise<void> {
    for (let number = random.between(2, 8); number > 0; number -= 1) {
      await wait(random.int(pauseMs))
      const { writes, work, onMade } = draft(`${name}-${number}`)
      const what = `${name}-${number} ${JSON.stringify(writes)}`
      const told: Told = {
        what,
        writes,
        begunAt: performance.now(),
        endedAt: Number.POSITIVE_INFINITY,
        answered: 'unknown',
      }
      all.push(told)
      const result = await random
        .pick(replicas)(work)
        .catch((error: unknown) => {
          told.answered = answeredBy(error)
          return String(error)
        })
      if (typeof result !== 'string') told.answered = 'made'
      if (typeof result !== 'string') onMade?.(result as never)
      if (told.answered !== 'unknown') told.endedAt = performance.now()
      world.note(`${what}: ${told.answered} ${JSON.stringify(result)}`)
    }
  }
  await Promise.all(Array.from({ length: random.between(2, 5) }, (_, index) => runMember(`member-${index}`)))
  // Work that goes on beyond its answer ends.
  await wait(CHANGES.timeoutMs)
  return all
}

function runReplica<Tools>({ network, world, journal }: Place, name: string, open: ChangesDeps<Tools>['open']) {
  let up: { readonly process: Process; readonly ask: (work: Draft<Tools>['work']) => Promise<unknown> } | undefined
  supervise({ network }, name, async (process) => {
    const client = createSimulatedJournal({ network, process, journal: journal.anotherClient() })
    const tools = await open(client, process).catch(() => undefined)
    if (tools === undefined) return
    const queue = createSerialQueue(CHANGES)
    up = { process, ask: (work) => queue(name, () => work(tools)) }
    await order({ network, world }, process)
    up = undefined
  })
  return async (work: Draft<Tools>['work']): Promise<unknown> => {
    await network.travel()
    if (!up?.process.isAlive) throw new CallError('not_written')
    const { process, ask } = up
    const cut = process.died.then(() => Promise.reject(new CallError('unknown')))
    const answer = await Promise.race([ask(work).finally(() => (process.isAlive ? undefined : never())), cut])
    await network.travel()
    if (network.fails(20)) throw new CallError('unknown')
    return answer
  }
}

/** The outcome that the error of a change tells its sender, by the same rules as the answers of Team settings. */
function answeredBy(error: unknown): Told['answered'] {
  if (error instanceof AppendError || (error instanceof CallError && error.message === 'the connection broke'))
    return error.outcome === 'unknown' ? 'unknown' : 'not_made'
  if (error instanceof CallError) return 'not_made'
  if (!(error instanceof ProblemError)) return 'unknown'
  if (error.message.startsWith('Somebody else changed')) return 'overtaken'
  return (error.problem.details as { readonly outcome?: string } | null)?.outcome === 'unknown' ? 'unknown' : 'not_made'
}

const objectOf = (field: string): string => field.split(' ')[0] ?? ''

/** Whether an object may have been changed by a process that died meanwhile: of such a one, nothing is promised. */
export const isDisturbed = (all: readonly Told[], object: string): boolean =>
  all.some(
    ({ answered, writes }) => answered === 'unknown' && Object.keys(writes).some((one) => objectOf(one) === object),
  )

/** Checks that the last answered change of each field stands: of changes that were under way at the same time, any may be the last. */
export function judgeChanges(
  all: readonly Told[],
  { lastOf, firstOf, find }: Record<'lastOf' | 'firstOf', (field: string) => unknown> & Pick<World, 'find'>,
): void {
  for (const field of new Set(all.flatMap(({ writes }) => Object.keys(writes)))) {
    const value = lastOf(field)
    const writers = all.filter(({ writes }) => Object.hasOwn(writes, field))
    const isLast = (endedAt: number): boolean =>
      !writers.some((one) => one.answered === 'made' && one.begunAt > endedAt && one.writes[field] !== value)
    const isExplained =
      (firstOf(field) === value && isLast(Number.NEGATIVE_INFINITY)) ||
      writers.some((one) => one.answered !== 'not_made' && one.writes[field] === value && isLast(one.endedAt))
    if (isExplained || isDisturbed(all, objectOf(field))) continue
    const told = writers.map(({ what, answered }) => `${what} (${answered})`)
    find(`${field} is ${JSON.stringify(value)} in the end, after ${told.join(', ')}`)
  }
}
