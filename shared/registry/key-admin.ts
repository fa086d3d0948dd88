import { timestampOf } from '../contract/timestamp.ts'
import { applyPlan } from './apply-plan.ts'
import { appendChanges, type RegistryAdminDeps, readAfter, readTopic } from './journal-access.ts'
import { beginsNewKeys, generateKey, hashKeyHex, isSendableKey, keyWeakness, shownPrefix } from './keys.ts'
import { impossible, NOTHING, type Plan } from './plan.ts'
import {
  keyRecordId,
  LIVE_KEYS_MAX,
  liveKeyIds,
  newKeyRecord,
  OWN_KEYS_MAX,
  ownKeyWait,
  revocations,
} from './plan-keys.ts'
import { type RegistryState, splitOwnedId } from './records.ts'

type RotateResult =
  /** The key is returned only here and not stored. `revoked` are the prefixes of the keys that were revoked. */
  { readonly outcome: 'rotated'; readonly key: string; readonly revoked: readonly string[] } | Refused

type RevokeResult =
  | { readonly outcome: 'revoked'; readonly prefix: string; readonly liveKeys: number }
  | { readonly outcome: 'already_revoked'; readonly prefix: string; readonly liveKeys: number }
  | Refused

/** A refusal, after which nothing has changed. `reason` is for an operator; HTTP clients get a message for `because`. */
export interface Refused {
  readonly outcome: 'refused'
  readonly because: KeyRefusal
  readonly reason: string
  /** For `too_often`: milliseconds until another attempt is allowed. */
  readonly waitMs?: number
}

type KeyRefusal =
  | 'no_team'
  | 'too_many_keys'
  /** A Team made too many by itself within a day. */
  | 'too_often'
  | 'unfit_key'
  | 'no_such_key'
  | 'several_keys'
  /** The keys have the same shown characters, so that only a whole key names one of them. */
  | 'keys_alike'
  | 'last_key'
  /** Another process changed the keys at the same time. */
  | 'overtaken'

const refused = (because: KeyRefusal, reason: string): Refused => ({ outcome: 'refused', because, reason })

const noTeam = (team: string) =>
  refused('no_team', `there is no Team ${JSON.stringify(team)}; \`registry list\` shows all`)

interface RotateOptions {
  /** Revokes all other keys at once. */
  readonly revokeOld: boolean
  /** The new key, which has to be strong; if omitted, a random one. */
  readonly key?: string
  /** Whether the Team does it by itself, which is limited in frequency; an operator is not limited. */
  readonly byTeam?: boolean
  /** Awaited once nothing refuses the key; if it rejects, nothing is changed. */
  readonly prepare?: () => Promise<void>
}

/** Gives a Team a new key. The old ones stay live unless `revokeOld`. */
export async function rotateKey(
  deps: RegistryAdminDeps,
  team: string,
  { revokeOld, key: given, byTeam = false, prepare }: RotateOptions,
): Promise<RotateResult> {
  const present = await readTopic(deps)
  const { state, end } = present
  if (!state.team.has(team)) return noTeam(team)
  const live = liveKeyIds(state).get(team) ?? []
  if (!revokeOld && live.length >= LIVE_KEYS_MAX) {
    const reason = `the Team has ${live.length} live keys already (${shown(state, live)})`
    return refused('too_many_keys', `${reason}; end one with \`registry revoke-key\`, or all of them with --revoke-old`)
  }
  const waitMs = byTeam ? ownKeyWait(state, team, deps.clock.now()) : 0
  if (waitMs > 0) return { ...refused('too_often', `the Team has made ${OWN_KEYS_MAX} keys within 24 hours`), waitMs }
  const problem = given === undefined ? undefined : problemOfKey(state, given)
  if (problem !== undefined) return refused('unfit_key', `the key ${problem}`)
  const key = given ?? newKey(state, team)
  await prepare?.()
  const now = timestampOf(deps.clock.now())
  const added = newKeyRecord(team, key, now)
  const ended = revokeOld ? live : []
  await appendChanges(deps, [added, ...revocations(state, ended, now)], state)

  const { state: after } = await readAfter(deps, present, [{ change: added, from: end }])
  const rank = (liveKeyIds(after).get(team) ?? []).indexOf(added.id)
  if (rank >= 0 && rank < LIVE_KEYS_MAX && after.team.has(team)) {
    return { outcome: 'rotated', key, revoked: ended.map((each) => state.key.get(each)?.prefix ?? '') }
  }
  await appendChanges(deps, revocations(after, [added.id], now), after)
  return refused(
    'overtaken',
    'another process changed the keys of the Team at the same time; the new key was taken back',
  )
}

function problemOfKey(state: RegistryState, key: string): string | undefined {
  if (!isSendableKey(key)) return 'must be 1 to 256 visible ASCII characters without blanks'
  const hash = hashKeyHex(key)
  if ([...state.key.keys()].some((id) => id.endsWith(`/${hash}`))) return 'was in use before; make a new one'
  return keyWeakness(key)
}

/** A random key whose shown characters differ from those of the Team's other keys, so that they identify it. */
function newKey(state: RegistryState, team: string): string {
  const taken = new Set([...state.key].filter(([id]) => splitOwnedId(id).team === team).map(([, { prefix }]) => prefix))
  for (;;) {
    const key = generateKey()
    // With 18 random bits shown, a Team would need hundreds of thousands of keys for this to matter.
    if (!taken.has(shownPrefix(key)) || taken.size > 10_000) return key
  }
}

/** Revokes a key, named by its first characters or in full; with `keepLast`, not the only live one, which would lock the Team out. */
export async function revokeKey(
  deps: RegistryAdminDeps,
  team: string,
  prefix: string,
  { keepLast }: { readonly keepLast: boolean } = { keepLast: false },
): Promise<RevokeResult> {
  const present = await readTopic(deps)
  const { state } = present
  if (!state.team.has(team)) return noTeam(team)
  const found = findKey(state, team, prefix)
  if ('outcome' in found) {
    // A process that ended the last key at the same time as another ended the other one is about to give it back.
    const isPassing = keepLast && found.outcome === 'already_revoked' && found.liveKeys === 0
    return isPassing ? OVERTAKEN : found
  }
  const now = timestampOf(deps.clock.now())
  const planOn = (one: RegistryState): Plan => {
    const live = liveKeyIds(one).get(team) ?? []
    if (!live.includes(found.id)) return NOTHING
    if (keepLast && live.length === 1) return impossible(LAST_KEY)
    return { ...NOTHING, changes: revocations(one, [found.id], now) }
  }
  if (planOn(state).problems.length > 0) return refused('last_key', LAST_KEY)
  const { left, state: after } = await applyPlan(deps, present, planOn)
  if (left.problems.length > 0)
    return refused('overtaken', 'another process ended the other key at the same time; this one was given back')
  if (left.changes.length > 0) return OVERTAKEN
  return { outcome: 'revoked', prefix: found.prefix, liveKeys: liveKeyIds(after).get(team)?.length ?? 0 }
}

const OVERTAKEN = refused('overtaken', 'another process changed the key at the same time; try again')
const LAST_KEY = 'it is the last live key of the Team'

/** The live key that is named by its first characters, or in full; if there is none, or more than one, the result of its revocation. */
function findKey(
  state: RegistryState,
  team: string,
  prefix: string,
): { readonly id: string; readonly prefix: string } | RevokeResult {
  const whole = keyRecordId(team, prefix)
  const named = [...state.key].filter(
    ([id, value]) => id === whole || (splitOwnedId(id).team === team && value.prefix.startsWith(prefix)),
  )
  const found = named.filter(([, { revokedAt }]) => revokedAt === null).map(([id]) => id)
  const live = liveKeyIds(state).get(team) ?? []
  const [first] = found
  if (first === undefined) {
    const ended = named[0]?.[1]
    if (ended !== undefined) return { outcome: 'already_revoked', prefix: ended.prefix, liveKeys: live.length }
    return refused(
      'no_such_key',
      `the Team has no key with these first characters as shown; live are: ${shown(state, live) || 'none'}`,
    )
  }
  const keyOf = (id: string) => ({ id, prefix: state.key.get(id)?.prefix ?? '' })
  if (found.includes(whole)) return keyOf(whole)
  // Revoked keys count too: repeated with a beginning that they share, a command would end the next key.
  const prefixes = new Set(named.map(([, value]) => value.prefix))
  if (prefixes.size > 1 || (beginsNewKeys(prefix) && !prefixes.has(prefix)))
    return refused(
      'several_keys',
      `more than one key may begin so; live are: ${shown(state, found)}; give more characters, or the whole key`,
    )
  if (found.length > 1)
    return refused('keys_alike', `the live keys ${shown(state, found)} begin alike; give the whole key`)
  return keyOf(first)
}

const shown = (state: RegistryState, ids: readonly string[]): string =>
  ids.map((id) => `${state.key.get(id)?.prefix}… of ${state.key.get(id)?.createdAt.slice(0, 10)}`).join(', ')
