import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type IRouter, type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express'
import { type Problem, problem } from '../../shared/contract/errors.ts'
import { DAY_MS } from '../../shared/contract/timestamp.ts'
import { answerJson, successBody } from '../../shared/http/answer.ts'
import { presentedKey } from '../../shared/http/api-key.ts'
import { createSmallJsonReader, GONE, refusedBodyHeaders } from '../../shared/http/body.ts'
import { parametersOf } from '../../shared/http/listener.ts'
import { answerMethodNotAllowed } from '../../shared/http/method-not-allowed.ts'
import type { Proxies } from '../../shared/http/proxies.ts'
import type { Audit, Audited } from '../../shared/journal/audit.ts'
import { AppendError, type Journal } from '../../shared/journal/journal.ts'
import type { LogStoreReader } from '../../shared/log-store/log-store.ts'
import { createRegistryAdmin } from '../../shared/registry/admin.ts'
import { describeTeam } from '../../shared/registry/describe.ts'
import type { RegistryFollower } from '../../shared/registry/follower.ts'
import { shownPrefix } from '../../shared/registry/keys.ts'
import { type QuotaSettings, quotaOf } from '../../shared/registry/limits.ts'
import type { Registry, Team } from '../../shared/registry/registry.ts'
import type { BaseServices } from '../../shared/role.ts'
import { steadyClock } from '../../shared/runtime/clock.ts'
import { createCooperative, inOneStep } from '../../shared/runtime/cooperative.ts'
import type { Logger } from '../../shared/runtime/logger.ts'
import { isTimeout, pause } from '../../shared/runtime/waiting.ts'
import { type AuthenticationDeps, callerOf } from '../api/authentication.ts'
import { answerFailure, invalidParameters, problemOf, rateLimited, unavailable } from '../api/problems.ts'
import type { ReadGate } from '../api/read-gate.ts'
import { answerRead, signalOf } from '../api/send-answer.ts'
import { refusedCounts } from '../refusals/items.ts'
import type { RefusalsReader } from '../refusals/ring.ts'
import type { SavedSearches, TeamSettings } from '../schemas/team.ts'
import { createAttempts } from '../session/attempts.ts'
import { requireSameOrigin } from '../session/same-origin.ts'
import { readFields } from './bodies.ts'
import {
  changeItem,
  changeTeam,
  createItem,
  createKey,
  createSearch,
  deleteSearch,
  idOf,
  type Kind,
  refusalOf,
  renameSearch,
  revokeKey,
  type TeamCall,
} from './changes.ts'
import { createLastSeen } from './last-seen.ts'
import { type GatewayAccess, sendSampleFlow } from './sample-flow.ts'
import { createSerialQueue, type SerialQueue, type SerialQueueOptions } from './serial-queue.ts'
import { listsOf, settingsOf } from './settings.ts'
import { snippetsOf } from './snippets.ts'
import {
  createWatch,
  deleteWatch,
  listWatches,
  patchWatch,
  showWatch,
  testWatch,
  type WatchCall,
  type WatchTools,
} from './watches.ts'

export interface TeamDeps extends AuthenticationDeps, Pick<BaseServices, 'clock' | 'logger'> {
  readonly journal: Pick<Journal, 'scan' | 'append'>
  readonly registryTopic: string
  readonly knownRegistry: RegistryFollower['known']
  readonly audit: Audit
  /** The first characters of the key that a request's session began with. */
  readonly keyOfSession: (headers: IncomingHttpHeaders) => string | undefined
  readonly store: LogStoreReader
  /** The gateway's address in code snippets. */
  readonly gateway: TeamSettings['gateway']
  /** How sample logs reach the gateway. */
  readonly access: GatewayAccess
  readonly proxies: Proxies
  readonly refusals: RefusalsReader
  /** The quotas of Teams without their own. */
  readonly quotas: QuotaSettings
  /** Bounds the reads, together with all others of the process. */
  readonly gate: ReadGate
  /** Time limit of a read, in milliseconds. */
  readonly deadlineMs: number
  readonly watches: Pick<WatchTools, 'book' | 'poster'>
  readonly changes?: SerialQueueOptions
  /** Maximum number of changes by a Team itself within 24 hours. */
  readonly changesMax?: number
  /** How long to wait for the log store, in milliseconds. */
  readonly patienceMs?: number
}

/** Room for a name and an identifier many times over. */
const BODY_LIMITS = { bytesMax: 16_384, timeoutMs: 10_000 }
/** Changes run one at a time, each planned on what the one before it left. */
export const CHANGES: SerialQueueOptions = { waitingMax: 16, teamWaitingMax: 4, timeoutMs: 15_000 }
/** A sample waits for a gateway, which has a timeout of its own. */
const SAMPLES: SerialQueueOptions = { waitingMax: 4, teamWaitingMax: 1, timeoutMs: 60_000 }
/** How long an answer waits until this process shows the change. */
const SHOWN_WITHIN_MS = 3_000
const SHOWN_POLL_MS = 10

const CREATED = 201

/** Maximum number of changes by a Team itself within 24 hours: each adds an audit record, and must not push out those of other Teams. */
export const TEAM_CHANGES_MAX = 3_000

/**
 * Registers the Team's own settings on a router: the keys, Events, Steps, Projects, saved searches and watches that it may see and change.
 */
export function registerTeam(router: IRouter, deps: TeamDeps): void {
  const routes = Router()
  for (const [path, handlers] of Object.entries(handlersOf(deps))) {
    const route = routes.route(path)
    for (const [method, handler] of Object.entries(handlers)) route[method as 'get'](handler)
    const allow = Object.keys(handlers).flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : method.toUpperCase()))
    route.all((_request, response) => answerMethodNotAllowed(response, allow.join(', ')))
  }
  routes.use('/api/team', (error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (!response.closed) answerFailure(response, problemOf(error) ?? failureOf(error, deps.logger))
  })
  router.use(routes)
}

/** Handlers by path and method. */
type Handlers = Readonly<Record<string, Readonly<Record<string, RequestHandler>>>>

function handlersOf(deps: TeamDeps): Handlers {
  const { registry, clock, access } = deps
  const watches: WatchTools = { ...deps.watches, registry, clock, attempts: createAttempts(steadyClock) }
  const settings = createSettingsReader(deps)
  /** Answers with what this process holds in memory. */
  const show = (dataOf: (team: Team, subject: string) => object) =>
    read(deps, async (team, subject) => dataOf(team, subject))
  const write = createWrite(deps)
  const sample = async ({ team, json }: TeamCall) => {
    readFields(json, [])
    return await sendSampleFlow(describeTeam(registry, team), access, clock)
  }
  const snippets = (kind: Kind) => (team: Team, subject: string) => {
    const id = idOf(kind, subject)
    if (!owns(registry, team, kind, id)) throw refusalOf('not_found', { kind, id })
    return { snippets: snippetsOf(kind, id) }
  }
  const items = (kind: Kind): Handlers => ({
    [`/api/team/${kind}s`]: { post: write(CREATED, (call) => createItem(kind, call)) },
    [`/api/team/${kind}s/:id`]: { patch: write(200, (call) => changeItem(kind, call)) },
    [`/api/team/${kind}s/:id/snippets`]: { get: show(snippets(kind)) },
  })
  return {
    '/api/team': { get: settings((all) => all), patch: write(200, changeTeam) },
    '/api/team/lists': { get: settings(listsOf) },
    '/api/team/keys': { post: write(CREATED, createKey) },
    '/api/team/keys/:id': { delete: write(200, revokeKey) },
    ...items('event'),
    ...items('step'),
    ...items('project'),
    '/api/team/searches': {
      get: show(({ id }) => ({ items: registry.searchesOf(id) }) satisfies SavedSearches),
      post: write(CREATED, createSearch),
    },
    '/api/team/searches/:id': { patch: write(200, renameSearch), delete: write(200, deleteSearch) },
    '/api/team/watches': {
      get: show(({ id }) => listWatches(watches, id)),
      post: write(CREATED, (call) => createWatch(watches, call)),
    },
    '/api/team/watches/:id': {
      get: show((team, subject) => showWatch(watches, team, subject)),
      patch: write(200, (call) => patchWatch(watches, call)),
      delete: write(200, (call) => deleteWatch(watches, call)),
    },
    // Tests wait for an arbitrary receiver, so they must not wait for one another as well.
    '/api/team/watches/:id/test': { post: write(200, (call) => testWatch(watches, call), null) },
    '/api/team/sample-flow': { post: write(200, sample, createSerialQueue(SAMPLES)) },
  }
}

/** The Team of a request. A change that is authenticated by the page's cookie has to come from the page itself. */
function teamOf(request: IncomingMessage, deps: TeamDeps, changes = false): Team {
  const { team: id, by } = callerOf(request, deps)
  if (changes && by === 'session') requireSameOrigin(request, deps.proxies)
  const team = deps.registry.team(id)
  if (team === undefined) throw unavailable('The registry changed meanwhile.')
  return team
}

/** Makes a handler that reads; `answer` makes what `answerRead` takes. */
const read =
  (deps: TeamDeps, answer: (team: Team, subject: string) => Promise<object | string>): RequestHandler =>
  (request, response) => {
    const team = teamOf(request, deps)
    refuseParameters(request)
    const reading = { team: team.id, request, response, signal: signalOf(response, deps.deadlineMs) }
    return answerRead(deps.gate, reading, () => answer(team, subjectOf(request)))
  }

/**
 * Creates the function that makes a handler of a change. Changes are made one at a time, in `queue`, unless that is null, and each is
 * answered once this process shows it.
 */
function createWrite(deps: TeamDeps) {
  const { journal, registryTopic: topic, knownRegistry: known, clock, logger } = deps
  const changes = createSerialQueue(deps.changes ?? CHANGES)
  const readJson = createSmallJsonReader(BODY_LIMITS)
  const auditedOf = createTeamAudit(deps)
  return (
    status: number,
    work: (call: WatchCall) => Promise<object>,
    queue: SerialQueue | null = changes,
  ): RequestHandler =>
    async (request, response) => {
      const team = teamOf(request, deps, true)
      refuseParameters(request)
      const body = hasBody(request) ? await readJson(request) : { value: {} }
      if (body === GONE) return
      if (body.problem !== undefined) {
        answerFailure(response, body.problem, refusedBodyHeaders(body.problem, request))
        return
      }
      const audited = auditedOf(team, request)
      const reading = createReading(journal)
      const admin = createRegistryAdmin({ journal: reading, topic, known, clock, audited })
      const call = { team, json: body.value, subject: subjectOf(request), admin, audited }
      const data = await (queue === null ? work(call) : queue(team.id, () => work(call)))
      const until = performance.now() + SHOWN_WITHIN_MS
      while (known().end < reading.end() && performance.now() < until) await pause(SHOWN_POLL_MS)
      logger.info({ team: team.id, method: request.method, path: request.path }, 'done for a Team by itself')
      answerJson(response, status, successBody(data), { 'cache-control': 'no-store' })
    }
}

/** The journal with the position up to which its topic was read: after a change of the registry, which is read again, the end of that change. */
function createReading(journal: TeamDeps['journal']) {
  let end = 0
  return {
    append: (batch: Parameters<Journal['append']>[0]) => journal.append(batch),
    scan: async function* (...given: Parameters<Journal['scan']>) {
      for await (const record of journal.scan(...given)) {
        end = record.offset + 1
        yield record
      }
    },
    end: () => end,
  }
}

/** Creates the function that audits a request's changes, and refuses changes of a Team over its limit. */
function createTeamAudit({ audit, proxies, keyOfSession, changesMax = TEAM_CHANGES_MAX }: TeamDeps) {
  const noLimit = { burst: 1, refillMs: 0 }
  const attempts = createAttempts(steadyClock, { burst: changesMax, refillMs: DAY_MS / changesMax }, noLimit)

  return ({ id }: Team, request: Request): Audited => {
    const presented = presentedKey(request.headers)
    const key = (presented === undefined ? keyOfSession(request.headers) : shownPrefix(presented)) ?? null
    const audited = audit({
      actor: { kind: 'team', id, key },
      via: `${request.method} ${request.route.path}`,
      from: proxies.clientOf(request),
    })
    let hasBegun = false
    return (changes, make) => {
      // A request that has begun may still undo its own changes.
      const waitMs = hasBegun ? 0 : attempts.waitOf(id)
      if (waitMs > 0) throw rateLimited('The Team has made too many changes.', Math.ceil(waitMs / 1_000))
      hasBegun = true
      attempts.count(id)
      return audited(changes, make)
    }
  }
}

/** Creates the function that makes a handler of a form of the Team's settings. */
function createSettingsReader(deps: TeamDeps) {
  const lastSeen = createLastSeen(deps)
  // Requests that share one read of the store are serialised in turn: the settings of a large Team are a megabyte.
  const byTurns = createCooperative()

  return (formOf: (settings: TeamSettings) => object): RequestHandler =>
    read(deps, async (team) => {
      const seen = await lastSeen(team.id)
      const refused = refusedCounts(deps.refusals, team.id)
      const known = { lastSeen: seen, refused, limits: quotaOf(team, deps.quotas), gateway: deps.gateway }
      const text = () => JSON.stringify(formOf(settingsOf(deps.registry, team, known)))
      return byTurns.run(team.id, inOneStep(text))
    })
}

/** Whether the Team owns this item, archived or not. */
function owns(registry: Registry, team: Team, kind: Kind, id: string): boolean {
  if (kind === 'project') return registry.project(id)?.team === team.id
  const entity = registry.entity(id)
  return entity?.team === team.id && entity.kind === kind
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Placeholder in the path for an identifier that is given by the parameter `identifier`. */
const ELSEWHERE = '-'
const ELSEWHERE_PARAMETER = 'identifier'

/** URL parsers remove `.` and `..` from a path, so these two can only be given as a parameter. */
function subjectOf(request: Request): string {
  const inPath = String(request.params['id'] ?? '')
  return (inPath === ELSEWHERE && parametersOf(request).get(ELSEWHERE_PARAMETER)) || inPath
}

function refuseParameters(request: Request): void {
  const isElsewhere = request.params['id'] === ELSEWHERE
  const given = Map.groupBy(parametersOf(request), ([name]) => name)
  const problems = [...given].flatMap(([path, { length }]) => {
    if (path !== ELSEWHERE_PARAMETER || !isElsewhere) return [{ path, message: 'is not a parameter here' }]
    return length > 1 ? [{ path, message: 'is given more than once' }] : []
  })
  if (problems.length > 0) throw invalidParameters(problems)
}

const REFUSED = 'The journal takes the change only once an operator has acted, as where a right is missing: tell them.'

function failureOf(error: unknown, logger: Logger): Problem {
  if (isTimeout(error)) return unavailable('The settings could not be read in time.').problem
  logger.error({ err: error }, "a request for a Team's settings failed")
  if (!(error instanceof AppendError)) return unavailable('The registry could not be read.').problem
  const { outcome, isFinal } = error
  const message = isFinal && outcome === 'not_written' ? REFUSED : 'The journal did not confirm the change.'
  return problem('server_error', { outcome }, message)
}
