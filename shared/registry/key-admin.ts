import { timestampOf } from '../contract/timestamp.ts'
import { appendChanges, type RegistryAdminDeps, readState } from './journal-access.ts'
import { generateKey, hashKeyHex, isSendableKey, keyWeakness, shownPrefix } from './keys.ts'
import { LIVE_KEYS_MAX, liveKeyIds, revocations } from './plan-keys.ts'
import { keyRecordId, type RegistryRecord, type RegistryState, splitKeyId } from './records.ts'

export type RotateResult =
  /** The key is given here once and kept nowhere. `revoked` are the prefixes of those that ended. */
  | { readonly outcome: 'rotated'; readonly key: string; readonly revoked: readonly string[] }
  | { readonly outcome: 'refused'; readonly reason: string }

export type RevokeResult =
  | { readonly outcome: 'revoked'; readonly prefix: string; readonly liveKeys: number }
  | { readonly outcome: 'already_revoked'; readonly prefix: string; readonly liveKeys: number }
  | { readonly outcome: 'refused'; readonly reason: string }

const refused = (reason: string) => ({ outcome: 'refused', reason }) as const

const noTeam = (team: string) => refused(`there is no Team ${JSON.stringify(team)}; \`registry list\` shows all`)

export async function rotateKey(
  deps: RegistryAdminDeps,
  team: string,
  { revokeOld, key: given }: { readonly revokeOld: boolean; readonly key?: string },
): Promise<RotateResult> {
  const state = await readState(deps)
  if (!state.team.has(team)) return noTeam(team)
  const live = liveKeyIds(state).get(team) ?? []
  if (!revokeOld && live.length >= LIVE_KEYS_MAX) {
    const reason = `the Team has ${live.length} live keys already (${shown(state, live)})`
    return refused(`${reason}; end one with \`registry revoke-key\`, or all of them with --revoke-old`)
  }
  const problem = given === undefined ? undefined : problemOfKey(state, given)
  if (problem !== undefined) return refused(`the key ${problem}`)
  const key = given ?? newKey(state, team)
  const now = timestampOf(deps.clock.now())
  const id = keyRecordId(team, hashKeyHex(key))
  const added: RegistryRecord = {
    kind: 'key',
    id,
    value: { prefix: shownPrefix(key), createdAt: now, revokedAt: null },
  }
  const ended = revokeOld ? live : []
  await appendChanges(deps, [added, ...revocations(state, ended, now)])

  const after = await readState(deps)
  const rank = (liveKeyIds(after).get(team) ?? []).indexOf(id)
  if (rank >= 0 && rank < LIVE_KEYS_MAX && after.team.has(team)) {
    return { outcome: 'rotated', key, revoked: ended.map((each) => state.key.get(each)?.prefix ?? '') }
  }
  await appendChanges(deps, revocations(after, [id], now))
  return refused('another process changed the keys of the Team at the same time; the new key was taken back')
}

function problemOfKey(state: RegistryState, key: string): string | undefined {
  if (!isSendableKey(key)) return 'must be 1 to 256 visible ASCII characters without blanks'
  const hash = hashKeyHex(key)
  if ([...state.key.keys()].some((id) => id.endsWith(`/${hash}`))) return 'was in use before; make a new one'
  return keyWeakness(key)
}

/** A random key whose shown characters no other key of the Team has, so that they tell it apart. */
function newKey(state: RegistryState, team: string): string {
  const taken = new Set([...state.key].filter(([id]) => splitKeyId(id).team === team).map(([, { prefix }]) => prefix))
  for (;;) {
    const key = generateKey()
    // With 18 random bits shown, a Team would need hundreds of thousands of keys for this to matter.
    if (!taken.has(shownPrefix(key)) || taken.size > 10_000) return key
  }
}

export async function revokeKey(deps: RegistryAdminDeps, team: string, prefix: string): Promise<RevokeResult> {
  const state = await readState(deps)
  if (!state.team.has(team)) return noTeam(team)
  const whole = keyRecordId(team, hashKeyHex(prefix))
  const named = [...state.key].filter(
    ([id, value]) => id === whole || (splitKeyId(id).team === team && value.prefix.startsWith(prefix)),
  )
  const found = named.filter(([, { revokedAt }]) => revokedAt === null).map(([id]) => id)
  const live = liveKeyIds(state).get(team) ?? []
  const [id] = found
  if (id === undefined) {
    const ended = named[0]?.[1]
    if (ended !== undefined) return { outcome: 'already_revoked', prefix: ended.prefix, liveKeys: live.length }
    return refused(
      `the Team has no key with these first characters as shown; live are: ${shown(state, live) || 'none'}`,
    )
  }
  if (prefix === '' || (found.length > 1 && !found.includes(whole))) {
    return refused(`more than one live key begins so: ${shown(state, found)}; give more characters, or the whole key`)
  }
  const ended = found.includes(whole) ? whole : id
  await appendChanges(deps, revocations(state, [ended], timestampOf(deps.clock.now())))
  const after = await readState(deps)
  const left = liveKeyIds(after).get(team) ?? []
  if (left.includes(ended)) return refused('another process changed the key at the same time; try again')
  return { outcome: 'revoked', prefix: state.key.get(ended)?.prefix ?? '', liveKeys: left.length }
}

const shown = (state: RegistryState, ids: readonly string[]): string =>
  ids.map((id) => `${state.key.get(id)?.prefix}… of ${state.key.get(id)?.createdAt.slice(0, 10)}`).join(', ')
