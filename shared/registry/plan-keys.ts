import { DAY_MS } from '../contract/timestamp.ts'
import type { RegistryFile } from './file.ts'
import { hashKeyHex, keyWeakness, shownPrefix } from './keys.ts'
import { ownedId, type RegistryRecord, type RegistryState, splitOwnedId } from './records.ts'

/** The id of the record of a Team's key. */
export const keyRecordId = (team: string, key: string): string => ownedId(team, hashKeyHex(key))

/** The record of a new live key, which holds its hash and its first characters only. */
export const newKeyRecord = (team: string, key: string, createdAt: string): RegistryRecord => ({
  kind: 'key',
  id: keyRecordId(team, key),
  value: { prefix: shownPrefix(key), createdAt, revokedAt: null },
})

/** Maximum live keys of a Team: the old and the new one while clients change over. */
export const LIVE_KEYS_MAX = 2

/** Maximum keys that a Team makes by itself within a day: each stays in the registry for good, revoked or not. */
export const OWN_KEYS_MAX = 20

/** Milliseconds from `now` until a Team may make another key by itself; 0 if it may at once. */
export function ownKeyWait(state: RegistryState, team: string, now: number): number {
  const made = [...state.key]
    .filter(([id]) => splitOwnedId(id).team === team)
    .map(([, { createdAt }]) => Date.parse(createdAt))
    // The time of a key that was made while the clock was ahead may be years away.
    .filter((at) => at <= now)
  const oldest = made.sort((a, b) => b - a)[OWN_KEYS_MAX - 1]
  return oldest === undefined ? 0 : Math.max(0, oldest + DAY_MS - now)
}

/** The ids of the live keys' records, by Team and in the order in which they were written. */
export function liveKeyIds(state: RegistryState): Map<string, string[]> {
  const live = [...state.key].filter(([, { revokedAt }]) => revokedAt === null)
  return Map.groupBy(
    live.map(([id]) => id),
    (id) => splitOwnedId(id).team,
  )
}

/** The Team of each key, revoked ones included, by the hash of the key. */
export const keyOwners = (state: RegistryState): ReadonlyMap<string, string> =>
  new Map([...state.key.keys()].map(splitOwnedId).map(({ id, team }) => [id, team]))

/** The changes that revoke the keys with these ids; an id without a key is left out. */
export const revocations = (state: RegistryState, ids: readonly string[], now: string): RegistryRecord[] =>
  ids.flatMap((id) => {
    const value = state.key.get(id)
    return value ? { kind: 'key', id, value: { ...value, revokedAt: now } } : []
  })

/** The input of a plan, a registry's state and a file, and the functions that collect its changes, problems and notes. */
export interface Planner {
  readonly state: RegistryState
  readonly file: RegistryFile
  /** Deletes everything that the file lacks, and revokes the keys that a Team's `apiKeys` lacks. */
  readonly prune: boolean
  /** The canonical timestamp of new and revoked keys. */
  readonly now: string
  readonly put: (record: RegistryRecord) => void
  readonly fail: (line: number, message: string) => void
  readonly say: (note: string) => void
}

/** Plans the `apiKeys` of the file's Teams. Without `prune`, keys are only added. */
export function planKeys({ state, file: { teams }, prune, now, put, fail, say }: Planner): void {
  // Most files are the change of one item, and a registry may have many keys.
  if (teams.every(({ apiKeys }) => apiKeys === undefined)) return
  const live = liveKeyIds(state)
  const owners = keyOwners(state)
  for (const { id: team, apiKeys, line } of teams) {
    if (apiKeys === undefined) continue
    const sayOf = (text: string): void => say(`Team "${team}": ${text}`)
    const listed = new Map(apiKeys.map(({ key, line }) => [keyRecordId(team, key), { key, line }]))
    for (const [id, { key, line }] of listed) {
      const shown = `the key ${shownPrefix(key)}…`
      const owner = owners.get(splitOwnedId(id).id)
      const present = state.key.get(id)
      if (present !== undefined) {
        if (present.revokedAt !== null) sayOf(`${shown} was revoked and stays so`)
      } else if (owner !== undefined) {
        fail(line, `${shown} is already one of the Team "${owner}"`)
      } else {
        put(newKeyRecord(team, key, now))
        const weakness = keyWeakness(key)
        if (weakness !== undefined) sayOf(`${shown} ${weakness}; replace it with \`registry rotate-key\``)
      }
    }
    const unlisted = (live.get(team) ?? []).filter((id) => !listed.has(id))
    if (prune) for (const change of revocations(state, unlisted, now)) put(change)
    else if (unlisted.length > 0)
      sayOf(`${unlisted.length} live key(s) that the file does not list stay live; --prune revokes them`)
    const added = [...listed.keys()].filter((id) => !state.key.has(id)).length
    const kept = (live.get(team) ?? []).length - (prune ? unlisted.length : 0)
    if (added > 0 && kept + added > LIVE_KEYS_MAX) {
      const most = `the most is ${LIVE_KEYS_MAX}; list fewer, or end one with \`registry revoke-key\``
      fail(line, `the Team "${team}" would have ${kept + added} live keys, ${most}`)
    }
  }
}
