import type { Answer } from './answer-parser.ts'
import type { Draft } from './draft.ts'
import { TEAMS } from './material.ts'
import { decoded } from './oracle/decoded.ts'

/**
 * The current key of the Team that changes its keys. Requests contain its first key, which has the same length as created ones; it is
 * replaced by the current key on sending.
 */
export interface TeamKeys {
  inserted(wire: Buffer): Buffer
  /** Records a created or revoked key. */
  learn(request: Draft, answer: Answer): void
}

interface Body {
  readonly data?: {
    readonly key?: string
    readonly prefix?: string
    readonly revoked?: unknown
    readonly liveKeys?: unknown
  }
}

export function createTeamKeys(): TeamKeys {
  const first = TEAMS.changes.key
  let live: readonly string[] = [first]
  return {
    inserted: (wire) => {
      const current = live.at(-1) ?? first
      if (current === first || !wire.includes(first)) return wire
      return Buffer.from(wire.toString('latin1').replaceAll(first, current), 'latin1')
    },
    learn: ({ route }, answer) => {
      const body = route.includes('/api/team/keys') && answer.status <= 201 ? decoded(answer) : undefined
      if (body === undefined || body.length === 0) return
      const { data } = JSON.parse(body.toString()) as Body
      if (data?.key?.length === first.length) live = [...live, data.key]
      else if (data?.liveKeys !== undefined)
        live = live.filter((key) => key.slice(0, data.prefix?.length) !== data.prefix)
    },
  }
}
