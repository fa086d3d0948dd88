import { hash, randomBytes, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { parseGuid } from '../../shared/contract/guid.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import type { Audited } from '../../shared/journal/audit.ts'
import { AppendError } from '../../shared/journal/journal.ts'
import type { Registry, Team } from '../../shared/registry/registry.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import { conflict, invalidFields, notFound, rateLimited, unavailable } from '../api/problems.ts'
import type { Condition, MadeWatch, NewWatch, TestedWatch, Watch, WatchDetails, Watches } from '../schemas/watches.ts'
import type { Attempts } from '../session/attempts.ts'
import type { KnownWatch, WatchBook } from '../watches/book.ts'
import { bodyOf } from '../watches/messages.ts'
import { type Poster, SECRET_PREFIX } from '../watches/poster.ts'
import { stateOf } from '../watches/progress.ts'
import type { StoredWatch } from '../watches/records.ts'
import { readFields, readNewWatch, readWatchChanges } from './bodies.ts'
import type { Change } from './changes.ts'

export interface WatchTools {
  readonly book: WatchBook
  readonly poster: Poster
  readonly registry: Registry
  readonly clock: Clock
}

/** The tools of a changing request. */
type ChangingTools = WatchTools & { readonly audited: Audited }

/** Each watch costs a read every half minute. */
export const WATCHES_MAX = 50
/** Every process that shows or evaluates watches holds them all in memory, each with up to tens of kilobytes of history. */
export const ALL_WATCHES_MAX = 2_000
const SECRET_BYTES = 32
/** How often a change is made anew as others came first. */
const TRIES_MAX = 5

export const listWatches = (tools: WatchTools, team: string): Watches => ({ items: bookOf(tools).of(team).map(shown) })

export function showWatch(tools: WatchTools, team: string, id: string): WatchDetails {
  const watch = find(tools, team, id)
  return { ...shown(watch), history: stateOf(watch).history.toReversed() }
}

export async function createWatch(tools: ChangingTools, team: string, json: unknown): Promise<Change> {
  const { name, condition, webhook, paused = false } = readNewWatch(json)
  const book = bookOf(tools)
  if (book.of(team).length >= WATCHES_MAX)
    throw conflict(`The Team has ${WATCHES_MAX} watches, the most there may be. Delete one first.`)
  const isOwned = (watch: KnownWatch): boolean => tools.registry.team(watch.team) !== undefined
  if (book.all().filter(isOwned).length >= ALL_WATCHES_MAX)
    throw conflict(`All Teams together have ${ALL_WATCHES_MAX} watches, the most there may be. Ask the operator.`)
  refuseUnknown(tools, team, { condition, webhook })
  const secret = webhook.secret ?? newSecret()
  const watch = { name, condition, webhook: { ...webhook, secret }, paused, since: timestampOf(tools.clock.now()) }
  return put(tools, team, randomUUID(), watch, secret)
}

/** Changes a watch; if another process changed it first, what that left. */
export async function patchWatch(tools: ChangingTools, team: string, given: string, json: unknown): Promise<Change> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await patchOnce(tools, team, given, json)
    } catch (error) {
      if (!(error instanceof OvertakenError)) throw error
      if (tries === TRIES_MAX)
        throw conflict('Somebody else changed the watch at the same time. Look at what is there now, and try again.')
    }
  }
}

async function patchOnce(tools: ChangingTools, team: string, given: string, json: unknown): Promise<Change> {
  const present = find(tools, team, given)
  const { team: _team, id, state: _state, lastEvaluatedAt: _at, ...stored } = present
  const changes = readWatchChanges(json)
  refuseUnknown(tools, team, changes)
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
  return put(tools, team, id, next, made)
}

export async function deleteWatch(tools: ChangingTools, team: string, given: string): Promise<Change> {
  const { id } = find(tools, team, given)
  await change(tools, team, id, null)
  return { data: { id }, isVisible: () => tools.book.find(team, id) === undefined }
}

/** Posts a message as the watch would, and returns the outcome; rate-limited, as the receiver is arbitrary. */
export async function testWatch(
  tools: WatchTools & { readonly attempts: Attempts },
  team: Team,
  given: string,
  json: unknown,
): Promise<Change> {
  readFields(json, [])
  const { id, name, condition, webhook } = find(tools, team.id, given)
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
  const data: TestedWatch = await tools.poster.post({ ...webhook, team: team.id }, message)
  return { data, isVisible: () => true }
}

async function put(
  tools: ChangingTools,
  team: string,
  id: string,
  watch: StoredWatch,
  secret: string | null,
): Promise<Change> {
  await change(tools, team, id, watch)
  const present = tools.book.find(team, id)
  const { state, lastEvaluatedAt } = present ?? { state: undefined, lastEvaluatedAt: null }
  const data: MadeWatch = { ...shown({ ...watch, team, id, state, lastEvaluatedAt }), secret }
  return {
    data,
    isVisible: () => JSON.stringify(partsOf(tools.book.find(team, id))) === JSON.stringify(partsOf(watch)),
  }
}

/** Writes the watch to its topic, and audits the change. */
async function change({ book, audited }: ChangingTools, team: string, id: string, after: StoredWatch | null) {
  const before = book.find(team, id) ?? null
  const action = before === null ? 'created' : after === null ? 'deleted' : 'changed'
  const told = { team, action, subject: { kind: 'watch', id }, before: audible(before), after: audible(after) } as const
  await audited([told], async () => {
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

const partsOf = (watch: StoredWatch | undefined) =>
  watch && [watch.name, watch.condition, watch.webhook, watch.paused, watch.since]

function bookOf({ book }: WatchTools): WatchBook {
  if (!book.ready()) throw unavailable('The watches are being read.')
  return book
}

function find(tools: WatchTools, team: string, given: string): KnownWatch {
  const watch = bookOf(tools).find(team, parseGuid(given) ?? given)
  if (watch === undefined) throw notFound('The Team has no watch with this id.')
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
  return refusal === undefined ? [] : [{ path: '/webhook/url', message: `cannot be posted to: ${refusal}` }]
}

const newSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/** A watch as the API returns it, without its secret. */
function shown(watch: KnownWatch): Watch {
  const { id, name, condition, webhook, paused, lastEvaluatedAt } = watch
  const { memory, error, delivery: waiting } = stateOf(watch)
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
  }
}
