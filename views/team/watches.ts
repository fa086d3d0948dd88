import { hash, randomBytes, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import type { Audited } from '../../shared/journal/audit.ts'
import { AppendError } from '../../shared/journal/journal.ts'
import type { Registry, Team } from '../../shared/registry/registry.ts'
import type { CoreServices } from '../../shared/role.ts'
import { conflict, invalidFields, notFound, overtaken, rateLimited, unavailable } from '../api/problems.ts'
import type { Condition, MadeWatch, NewWatch, Watch, WatchDetails, Watches } from '../schemas/watches.ts'
import type { Attempts } from '../session/attempts.ts'
import type { KnownWatch, WatchBook } from '../watches/book.ts'
import { bodyOf } from '../watches/messages.ts'
import { type Posted, type Poster, SECRET_PREFIX } from '../watches/poster.ts'
import { gaveUpAt, stateOf } from '../watches/progress.ts'
import type { StoredWatch } from '../watches/records.ts'
import { readFields, readNewWatch, readWatchChanges } from './bodies.ts'
import { guidOf, type TeamCall } from './changes.ts'

export interface WatchTools extends Pick<CoreServices, 'registry' | 'clock'> {
  readonly book: WatchBook
  readonly poster: Poster
  /** Limits the tests of a Team. */
  readonly attempts: Attempts
}

/** The request to change a watch, which is no record of the registry. */
export type WatchCall = TeamCall & { readonly audited: Audited }

/** Each watch costs a read every half minute. */
export const WATCHES_MAX = 50
/** Every process that shows or evaluates watches holds them all in memory, each with up to tens of kilobytes of history. */
export const ALL_WATCHES_MAX = 2_000
const SECRET_BYTES = 32
/** How often a change is made anew as others came first. */
const TRIES_MAX = 5

export const listWatches = (tools: WatchTools, team: string): Watches => ({ items: bookOf(tools).of(team).map(shown) })

export function showWatch(tools: WatchTools, team: Team, subject: string): WatchDetails {
  const watch = find(tools, { team, subject })
  return { ...shown(watch), history: stateOf(watch).history.toReversed() }
}

export async function createWatch(tools: WatchTools, call: WatchCall): Promise<MadeWatch> {
  const team = call.team.id
  const { name, condition, webhook, paused = false } = readNewWatch(call.json)
  const book = bookOf(tools)
  const tooMany = conflict(`The Team has ${WATCHES_MAX} watches, the most there may be. Delete one first.`)
  if (book.of(team).length >= WATCHES_MAX) throw tooMany
  const isOwned = (watch: KnownWatch): boolean => tools.registry.team(watch.team) !== undefined
  if (book.all().filter(isOwned).length >= ALL_WATCHES_MAX)
    throw conflict(`All Teams together have ${ALL_WATCHES_MAX} watches, the most there may be. Ask the operator.`)
  refuseUnknown(tools, team, { condition, webhook })
  const secret = webhook.secret ?? newSecret()
  const watch = { name, condition, webhook: { ...webhook, secret }, paused, since: timestampOf(tools.clock.now()) }
  const id = randomUUID()
  const made = await put(tools, call, id, watch, secret)
  // Other processes may have created watches meanwhile. All that come before this one are known here.
  if (book.of(team).length > WATCHES_MAX) {
    await change(tools, call, id, null)
    throw tooMany
  }
  return made
}

/** Changes a watch; if another process changed it first, what that left. */
export async function patchWatch(tools: WatchTools, call: WatchCall): Promise<MadeWatch> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await patchOnce(tools, call)
    } catch (error) {
      if (!(error instanceof OvertakenError)) throw error
      if (tries === TRIES_MAX) throw overtaken('the watch')
    }
  }
}

async function patchOnce(tools: WatchTools, call: WatchCall): Promise<MadeWatch> {
  const present = find(tools, call)
  const { team: _team, id, state: _state, lastEvaluatedAt: _at, ...stored } = present
  const changes = readWatchChanges(call.json)
  refuseUnknown(tools, call.team.id, changes)
  const { name = stored.name, condition = stored.condition, paused = stored.paused, webhook } = changes
  // A secret is returned only when it was generated or set by this request.
  const made = webhook?.secret === null ? newSecret() : (webhook?.secret ?? null)
  const { url, format } = webhook ?? stored.webhook
  // A watch that is resumed or whose condition changed starts over: earlier flows and groups are not reported.
  const isSame = isDeepStrictEqual(condition, stored.condition) && !(stored.paused && !paused)
  const since = isSame ? stored.since : timestampOf(tools.clock.now())
  const next = {
    ...stored,
    name,
    condition,
    webhook: { url, format, secret: made ?? stored.webhook.secret },
    paused,
    since,
  }
  return put(tools, call, id, next, made)
}

export async function deleteWatch(tools: WatchTools, call: WatchCall): Promise<object> {
  const { id } = find(tools, call)
  await change(tools, call, id, null)
  return { id }
}

/** Posts a message as the watch would, and returns the outcome; rate-limited, as the receiver is arbitrary. */
export async function testWatch(tools: WatchTools, call: TeamCall): Promise<Posted> {
  const { team } = call
  readFields(call.json, [])
  const { id, name, condition, webhook } = find(tools, call)
  const waitMs = tools.attempts.waitOf(team.id)
  if (waitMs > 0) throw rateLimited('The Team has sent too many tests.', Math.ceil(waitMs / 1_000))
  tools.attempts.count(team.id)
  const at = timestampOf(tools.clock.now())
  const notice = {
    type: 'watch.test',
    team: { id: team.id, name: team.name },
    watch: { id, name, condition },
    firing: { at, match: { count: 0, samples: [] } },
    url: null,
  } as const
  const message = { id: `msg_${randomUUID()}`, body: bodyOf(webhook.format, notice) }
  return await tools.poster.post({ ...webhook, team: team.id }, message)
}

async function put(
  tools: WatchTools,
  call: WatchCall,
  id: string,
  watch: StoredWatch,
  secret: string | null,
): Promise<MadeWatch> {
  await change(tools, call, id, watch)
  const team = call.team.id
  const present = tools.book.find(team, id)
  const { state, lastEvaluatedAt } = present ?? { state: undefined, lastEvaluatedAt: null }
  return { ...shown({ ...watch, team, id, state, lastEvaluatedAt }), secret }
}

/** Writes the watch to its topic, and audits the change. */
async function change({ book }: WatchTools, call: WatchCall, id: string, after: StoredWatch | null): Promise<void> {
  const team = call.team.id
  const before = book.find(team, id) ?? null
  const action = before === null ? 'created' : after === null ? 'deleted' : 'changed'
  const edit = { team, action, subject: { kind: 'watch', id }, before: audible(before), after: audible(after) } as const
  await call.audited([edit], async () => {
    if (after === null) await book.remove(team, id)
    else if (!(await book.put(team, id, after))) throw new OvertakenError()
  })
}

/** Another change of the watch came first. */
class OvertakenError extends AppendError {
  constructor() {
    super('another change came first', 'not_written')
  }
}

/** A watch without its secrets, which include the webhook's path; the fingerprint changes with them. */
function audible(watch: StoredWatch | null): object | null {
  if (watch === null) return null
  const { name, condition, webhook, paused } = watch
  const fingerprint = hash('sha256', JSON.stringify([webhook.url, webhook.secret])).slice(0, 8)
  return {
    name,
    condition,
    webhook: { origin: new URL(webhook.url).origin, format: webhook.format, fingerprint },
    paused,
  }
}

function bookOf({ book }: WatchTools): WatchBook {
  if (!book.ready()) throw unavailable('The watches are being read.')
  return book
}

function find(tools: WatchTools, { team, subject }: Pick<TeamCall, 'team' | 'subject'>): KnownWatch {
  const watch = bookOf(tools).find(team.id, guidOf(subject))
  if (watch === undefined)
    throw notFound('The Team has no watch with this id.', 'Check the id; /api/team/watches lists all.')
  return watch
}

/** Refuses what is known to fail; host names are resolved only when posting. */
function refuseUnknown(
  { registry, poster }: WatchTools,
  team: string,
  { condition, webhook }: Partial<NewWatch>,
): void {
  const problems = [...eventProblem(registry, team, condition), ...addressProblem(poster, webhook?.url)]
  if (problems.length > 0) throw invalidFields(problems)
}

function eventProblem(registry: Registry, team: string, condition: Condition | undefined) {
  if (condition?.type !== 'flows' || condition.event === null) return []
  const entity = registry.entity(condition.event)
  if (entity?.kind === 'event' && entity.team === team) return []
  return [{ path: '/condition/event', message: 'must be the identifier of an Event of the Team, or null for all' }]
}

function addressProblem(poster: Poster, url: string | undefined) {
  const refusal = url === undefined ? undefined : poster.refusalOf(url)
  return refusal === undefined
    ? []
    : [{ path: '/webhook/url', message: `cannot be posted to: ${refusal.replace(/\.$/, '')}` }]
}

const newSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/** A watch as the API returns it, without its secret. */
function shown(watch: KnownWatch): Watch {
  const { id, name, condition, webhook, paused, since } = watch
  const present = stateOf(watch)
  const { memory, error, delivery: waiting, history } = present
  // The time is written up to a second after a state that the evaluation led to, which has a time of its own.
  const lastEvaluatedAt = watch.lastEvaluatedAt ?? history.find(({ at }) => at >= since)?.at ?? null
  // A message that waits is not sent while its watch is paused, nor afterwards, as the watch starts over.
  const delivery = paused ? null : waiting
  const state = error !== null ? 'error' : memory.isMet ? 'met' : lastEvaluatedAt === null ? 'new' : 'waiting'
  return {
    id,
    name,
    condition,
    webhook: { url: webhook.url, format: webhook.format },
    paused,
    state: paused ? 'paused' : state,
    lastEvaluatedAt,
    error,
    delivery: delivery && {
      since: delivery.at,
      attempts: delivery.attempts,
      nextAt: delivery.nextAt,
      reason: delivery.reason,
    },
    gaveUpAt: gaveUpAt(present),
  }
}
