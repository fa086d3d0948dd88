import { hash } from 'node:crypto'
import { parseJsonObject } from '../contract/json-object.ts'
import type { Plan } from './plan.ts'
import { keyOwners, LIVE_KEYS_MAX, liveKeyIds } from './plan-keys.ts'
import {
  decodeRecord,
  emptyState,
  fold,
  type RegistryRecord,
  type RegistryState,
  recordsOf,
  splitOwnedId,
} from './records.ts'
import { type FileProblem, NOT_UTF8 } from './yaml-reader.ts'

/** The version of the file's format; a newer one raises it if older programs would misread it. */
const VERSION = 1

/**
 * The whole registry as lines of text: a header, a line for each record, and a checksum of all lines before. Keys are in it as hashes,
 * revoked ones included. The same state gives the same text, except for `exportedAt`, a canonical timestamp.
 */
export function encodeBackup(state: RegistryState, exportedAt: string): string {
  const records = recordsOf(state).map(({ kind, id, value }) => ({ key: `${kind}/${id}`, value }))
  const lines = [{ format: 'sluice-registry', version: VERSION, exportedAt }, ...records.toSorted(byKey)]
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  return `${text}${JSON.stringify({ records: records.length, sha256: hash('sha256', text) })}\n`
}

const byKey = (a: { key: string }, b: { key: string }): number => (a.key < b.key ? -1 : 1)

/** The content of a backup, or what is wrong with it: a file is read completely, or not at all. */
type ReadBackup = { readonly state: RegistryState } | { readonly problem: FileProblem }

export function readBackup(bytes: Uint8Array): ReadBackup {
  const text = new TextDecoder().decode(bytes)
  const lines = text.split('\n')
  const failed = (line: number | null, message: string): ReadBackup => ({ problem: { line, message } })

  if (text.includes('\0')) return failed(null, NOT_UTF8)
  const head = parseJsonObject(lines[0])
  if (head?.['format'] !== 'sluice-registry') return failed(1, 'this is no file of `registry export`')
  if (head['version'] !== VERSION)
    return failed(1, `the file has the version ${JSON.stringify(head['version'])}, and this program reads ${VERSION}`)

  // The last line ends with a line feed, so a truncated checksum does not pass for one.
  const end = parseJsonObject(lines.at(-2))
  const content = text.slice(0, text.length - (lines.at(-2)?.length ?? 0) - 1)
  if (lines.at(-1) !== '' || typeof end?.['sha256'] !== 'string')
    return failed(null, 'the file is cut off: its last line is not the checksum')
  if (end['sha256'] !== hash('sha256', content) || end['records'] !== lines.length - 3)
    return failed(null, 'the file is damaged: it does not have the checksum of its last line')

  const state = emptyState()
  for (const [index, line] of lines.slice(1, -2).entries()) {
    const { key, value } = parseJsonObject(line) ?? {}
    const [keyBytes, valueBytes] = [String(key), JSON.stringify(value ?? null)].map((part) => Buffer.from(part))
    const { record, unreadable } = decodeRecord({ key: keyBytes ?? null, value: valueBytes ?? null })
    if (record === undefined || unreadable !== undefined)
      return failed(
        index + 2,
        `the record cannot be read (${unreadable}); restore it with the version that exported it`,
      )
    fold(state, record)
  }
  return { state }
}

/**
 * The changes after which the registry has everything in a backup again. Anything not in the backup stays. A key that is revoked in either
 * of the two is revoked: a restore revives none. Pure; once its changes are folded in, there are no further ones.
 */
export function planRestore(state: RegistryState, backup: RegistryState): Plan {
  const problems = conflicts(state, backup).map((message) => ({ line: null, message }))
  if (problems.length > 0) return { changes: [], problems, notes: [] }
  const keptRevoked = [...backup.key].filter(
    ([id, { revokedAt }]) => revokedAt === null && state.key.get(id)?.revokedAt,
  )
  const kept = new Set(keptRevoked.map(([id]) => id))
  const changes = recordsOf(backup).filter(({ kind, id, value }) => {
    const present = state[kind].get(id)
    return !(kind === 'key' && kept.has(id)) && JSON.stringify(value) !== JSON.stringify(present)
  })
  const crowded = crowdedTeams(state, changes)
  return {
    changes,
    problems,
    notes: [
      ...keptRevoked.map(
        ([id, { prefix }]) => `Team "${splitOwnedId(id).team}": the key ${prefix}… was revoked since and stays so`,
      ),
      ...crowded.map(
        (team) => `Team "${team}" has more than ${LIVE_KEYS_MAX} live keys now; end some with \`registry revoke-key\``,
      ),
    ],
  }
}

/** The conflicts that keep the two from being merged: names and keys never move to another Team. */
function conflicts(state: RegistryState, backup: RegistryState): string[] {
  const names = (['event', 'step', 'project'] as const).flatMap((kind) =>
    [...backup[kind]].flatMap(([id, { team }]) => {
      const other = kind === 'event' ? state.step.get(id) : kind === 'step' ? state.event.get(id) : undefined
      const owner = (state[kind].get(id) ?? other)?.team
      if (owner !== undefined && owner !== team)
        return `${JSON.stringify(id)} belongs to the Team "${owner}" now, and in the file to "${team}"`
      if (other === undefined) return []
      const [now, before] = kind === 'event' ? ['a Step', 'an Event'] : ['an Event', 'a Step']
      return `${JSON.stringify(id)} is ${now} now, and ${before} in the file`
    }),
  )
  const owners = keyOwners(state)
  const keys = [...backup.key].flatMap(([id, { prefix }]) => {
    const { id: hash, team } = splitOwnedId(id)
    const owner = owners.get(hash) ?? team
    return owner === team ? [] : `the key ${prefix}… belongs to the Team "${owner}" now, and in the file to "${team}"`
  })
  return [...names, ...keys]
}

/** Teams that get a live key and then have more of them than they may have. */
function crowdedTeams(state: RegistryState, changes: readonly RegistryRecord[]): string[] {
  const after = { ...state, key: new Map(state.key) }
  const keys = changes.filter(({ kind }) => kind === 'key')
  for (const record of keys) fold(after, record)
  const grown = new Set(keys.map(({ id }) => splitOwnedId(id).team))
  return [...liveKeyIds(after)]
    .filter(([team, ids]) => grown.has(team) && ids.length > LIVE_KEYS_MAX)
    .map(([team]) => team)
}
