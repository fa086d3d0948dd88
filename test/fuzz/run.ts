import { setTimeout as delay } from 'node:timers/promises'
import type { Answer } from './answer-parser.ts'
import { type Connection, type Exchange, openConnection } from './connection.ts'
import type { Draft, Role } from './draft.ts'
import type { Finding, Findings } from './findings.ts'
import type { AcceptedLedger } from './ledger.ts'
import { STORED_ID } from './material.ts'
import type { Verdict } from './oracle/dialects.ts'
import { judge } from './oracle/judge.ts'
import type { Plan, Script, Stage } from './plan.ts'
import { during, listed, shown, suspects } from './report.ts'
import type { Target } from './target.ts'
import type { TeamKeys } from './team-keys.ts'

export interface RunDeps {
  readonly target: Pick<Target, 'port' | 'deaths' | 'up'>
  readonly ledger: AcceptedLedger
  readonly findings: Findings
  readonly keys: TeamKeys
  readonly onAnswer: (plan: Plan, request: Draft, answer: Answer, verdict: Verdict) => void
}

/** The running cases, oldest first. */
export type InFlight = ReadonlyMap<number, Plan>

const FOUND_WITHIN_MS = 15_000
const FOUND_POLL_MS = 30
const FOUND_POLL_MAX_MS = 500
/** A dying process closes its connections a moment before its death is known. */
const DEATH_KNOWN_MS = 300

export interface Runner {
  readonly inFlight: InFlight
  /** Runs the cases returned by `next` in parallel lanes, until it returns none. */
  run(next: () => Plan | undefined, lanes: number): Promise<void>
  /** Lends connections to consecutive cases. */
  onConnections<T>(work: (run: RunOne) => Promise<T>): Promise<T>
  /** Runs one case on its own. */
  once(plan: Plan): Promise<readonly Verdict[]>
}

/** Runs one case to its end. */
export type RunOne = (plan: Plan) => Promise<readonly Verdict[]>

export function createRunner(deps: RunDeps): Runner {
  const { target, findings, keys } = deps
  const inFlight = new Map<number, Plan>()
  /** The number of dead processes when a connection was opened. */
  const deathsAt = new WeakMap<Connection, number>()

  /** Runs cases one after the other on the same connections. */
  const onConnections = <T>(work: (run: RunOne) => Promise<T>): Promise<T> =>
    onOwnConnections((connections) =>
      work(async (plan) => {
        const { number } = plan
        inFlight.set(number, plan)
        const verdicts = await runPlan(plan, connections)
        // An abandoned connection outlives its case.
        const ms = lastsMs(plan)
        if (ms === 0) inFlight.delete(number)
        else setTimeout(() => inFlight.delete(number), ms).unref()
        return verdicts
      }),
    )

  const lane = (next: () => Plan | undefined): Promise<void> =>
    onConnections(async (run) => {
      for (let plan = next(); plan !== undefined; plan = next()) await run(plan)
    })

  async function runPlan(plan: Plan, connections: Map<Role, Connection>): Promise<readonly Verdict[]> {
    const all: Verdict[] = []
    for (const stage of plan.stages) {
      const storedId = all.flatMap(({ accepted }) =>
        accepted !== undefined && 'id' in accepted ? [accepted.id] : [],
      )[0]
      if (needsId(stage) && storedId === undefined) break
      all.push(...(await runStage(plan, stage, storedId, connections)))
    }
    return all
  }

  async function runStage(
    plan: Plan,
    stage: Stage,
    storedId: string | undefined,
    connections: Map<Role, Connection>,
  ): Promise<readonly Verdict[]> {
    const end = performance.now() + FOUND_WITHIN_MS
    for (let pauseMs = FOUND_POLL_MS; ; pauseMs = Math.min(2 * pauseMs, FOUND_POLL_MAX_MS)) {
      const run = (script: Script, on: Map<Role, Connection>) => runScript(plan, script, storedId, on)
      const [first, ...others] = stage.scripts
      // Concurrent scripts have their own connections.
      const runs = others.map((script) => onOwnConnections((own) => run(script, own)))
      const verdicts = (await Promise.all(first === undefined ? [] : [run(first, connections), ...runs])).flat()
      const isMissing = stage.untilFound && verdicts.some(({ failure }) => failure?.code === 'not_found')
      // Under load an entry may be late; the ledger finally decides whether it is lost.
      if (!isMissing || performance.now() > end) return verdicts
      await delay(pauseMs)
    }
  }

  async function runScript(
    plan: Plan,
    script: Script,
    storedId: string | undefined,
    connections: Map<Role, Connection>,
  ): Promise<readonly Verdict[]> {
    const connection = await connectionFor(plan, script.role, connections)
    const deaths = target.deaths()
    const exchange = await connection.run(script, keys.inserted(withId(script.wire, storedId)))
    // A late response would be attributed to the next request.
    const isDone = exchange.answers.length === script.requests.length
    if (!connection.fit() || !isDone || script.end.kind !== 'keep' || saysClose(exchange)) {
      connections.delete(script.role)
      if (script.end.kind !== 'leave') connection.close()
    }
    const verdicts = judged(plan, script, exchange)
    const problem = exchangeProblem(script, exchange)
    if (problem !== undefined) {
      if (exchange.ended !== 'open') await delay(DEATH_KNOWN_MS)
      if (target.deaths() === deaths) findings.add(problem === LATE ? late(plan, script) : { what: problem, plan })
    }
    return verdicts
  }

  /** The delayed case itself is seldom the cause. */
  function late(plan: Plan, { requests }: Script): Finding {
    const plans = suspects([...inFlight.values()])
    return { what: LATE + during(plans), plan, detail: `${requests[0]?.route}\n${listed(plans)}` }
  }

  async function connectionFor(plan: Plan, role: Role, connections: Map<Role, Connection>): Promise<Connection> {
    const known = connections.get(role)
    if (known?.fit()) return known
    if (known?.unasked() !== undefined) findings.add({ what: UNASKED, plan, detail: known.unasked() })
    if (known?.endedIdle()) {
      // A dying process closes its connections.
      await delay(DEATH_KNOWN_MS)
      if (deathsAt.get(known) === target.deaths())
        findings.add({ what: 'a connection was closed that was to stay open', plan })
    }
    known?.close()
    for (;;) {
      try {
        const connection = await openConnection(target.port(role))
        connections.set(role, connection)
        deathsAt.set(connection, target.deaths())
        return connection
      } catch {
        await target.up()
        await delay(DEATH_KNOWN_MS)
      }
    }
  }

  function judged(plan: Plan, { requests, owed }: Script, { answers, begun }: Exchange): readonly Verdict[] {
    const seen = begun === undefined ? answers : [...answers, begun]
    const verdicts = seen.map((answer, index) => {
      const request = requests[Math.min(index, requests.length - 1)] as Draft
      const verdict = judge(request, answer)
      deps.onAnswer(plan, request, answer, verdict)
      for (const problem of verdict.problems)
        findings.add({
          what: whatOf(request, problem, owed < requests.length),
          plan,
          detail: shown(answer.body, 300),
        })
      if (request.dialect === 'view') keys.learn(request, answer)
      return verdict
    })
    for (const [index, { stores }] of requests.entries())
      if (stores !== undefined)
        note(deps.ledger, stores.mark, requests.length === 1 ? verdicts : verdicts.slice(index, index + 1))
    return verdicts
  }

  return {
    inFlight,
    run: async (next, lanes) => void (await Promise.all(Array.from({ length: lanes }, () => lane(next)))),
    onConnections,
    once: (plan) => onConnections((run) => run(plan)),
  }
}

/** Lends connections that are closed after the work. */
async function onOwnConnections<T>(work: (connections: Map<Role, Connection>) => Promise<T>): Promise<T> {
  const connections = new Map<Role, Connection>()
  try {
    return await work(connections)
  } finally {
    for (const connection of connections.values()) connection.close()
  }
}

/** An abandoned connection may still have effects after it was closed. */
const AFTERMATH_MS = 3_000

const lastsMs = ({ stages }: Plan): number =>
  Math.max(
    0,
    ...stages.flatMap(({ scripts }) => scripts.map(({ end }) => (end.kind === 'leave' ? end.forMs + AFTERMATH_MS : 0))),
  )

/** The name of a finding: without the route if the fault is common to all routes. */
function whatOf({ route }: Draft, problem: string, isBeforeMalformed: boolean): string {
  if (isBeforeMalformed && problem.endsWith('malformed_request')) return LOST_BEFORE_MALFORMED
  return /without a body$|^a request with/.test(problem) ? problem : `${route}: ${problem}`
}

const needsId = ({ scripts }: Stage): boolean => scripts.some(({ wire }) => wire.includes(STORED_ID))

function withId(wire: Buffer, id: string | undefined): Buffer {
  if (id === undefined) return wire
  return Buffer.from(wire.toString('latin1').replaceAll(STORED_ID, id), 'latin1')
}

const saysClose = ({ answers }: Exchange): boolean => answers.at(-1)?.headers.get('connection')?.join() === 'close'

const LATE = 'no answer in time'
const UNASKED = 'an answer that nobody asked for'
/** Pipelined requests have to be answered in order, even if a later one is unreadable (RFC 9112, 9.3.2). */
const LOST_BEFORE_MALFORMED = 'a malformed request takes away the answers to those before it'

/** The fault of the connection, independent of the responses' content. */
function exchangeProblem({ owed, end, requests }: Script, exchange: Exchange): string | undefined {
  const { garbled, answers, late, ended } = exchange
  // The response to a damaged HEAD may have a body.
  if (garbled !== undefined) return owed === 0 && requests[0]?.method === 'HEAD' ? undefined : `no HTTP: ${garbled}`
  if (owed === requests.length && answers.length > owed) return UNASKED
  if (owed === 0 || end.kind === 'break' || end.kind === 'leave') return undefined
  const begun = exchange.begun === undefined || end.kind !== 'read' ? 0 : 1
  if (answers.length + begun >= owed || saysClose(exchange)) return undefined
  if (owed < requests.length) return LOST_BEFORE_MALFORMED
  if (late) return LATE
  if (requests.some(({ torn }) => torn)) return `${requests[0]?.route}: no answer`
  return `no answer: the connection was ${ended} after ${end.kind === 'half-close' ? 'its other half was closed' : 'a whole request'}`
}

/** Records the outcome of one request's entries. */
function note(ledger: AcceptedLedger, mark: string, verdicts: readonly Verdict[]): void {
  const accepted = verdicts.flatMap((verdict) => (verdict.accepted === undefined ? [] : [verdict.accepted]))
  for (const one of accepted) {
    if ('id' in one) ledger.acceptedId(one.id, mark)
    else ledger.acceptedCount(one.count, mark)
  }
  if (accepted.length === 0 && !verdicts.some(({ failure }) => failure !== undefined && !failure.retryable))
    ledger.unknown(mark)
}
