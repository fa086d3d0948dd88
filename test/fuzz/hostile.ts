import { ATTACKS, fullAttack } from './attacks/attacks.ts'
import { type Honest, startHonest } from './honest/honest.ts'
import type { Clients } from './honest/order.ts'
import type { Settlement } from './ledger.ts'
import { markOf } from './marks.ts'
import { TEAMS } from './material.ts'
import type { Plan } from './plan.ts'
import { createRandom } from './random.ts'
import { type Rig, type RigOptions, startRig } from './rig.ts'

export const ATTACK_NAMES = Object.keys(ATTACKS)

/** The running program with honest clients and attackers. */
export interface Hostile extends Rig {
  readonly honest: Honest
  /** Runs full-size attacks of these names in parallel lanes until `isOver`. Returns their number. */
  attack(names: readonly string[], lanes: number, isOver: (cases: number) => boolean): Promise<number>
  /** Ends all work and compares accepted with readable entries: first those of the honest senders. */
  finishAll(): Promise<readonly [Settlement, Settlement]>
}

/** Each attack has its own range of case numbers, so that its cases do not depend on earlier ones. */
const NUMBERS_AN_ATTACK = 1_000_000

export async function startHostile(options: RigOptions, seed: number, clients: Clients): Promise<Hostile> {
  const rig = await startRig(options)
  const honest = startHonest(rig, seed, clients)

  const order = createRandom(seed, 0)
  const given = new Map<string, number>()

  function nextOf(names: readonly string[]): Plan {
    const name = order.pick(names)
    const place = given.get(name) ?? 0
    given.set(name, place + 1)
    const number = (ATTACK_NAMES.indexOf(name) + 1) * NUMBERS_AN_ATTACK + place
    const context = { random: createRandom(seed, number), material: rig.material, mark: markOf(number, 0) }
    return fullAttack(name, number, context)
  }

  return {
    ...rig,
    honest,
    attack: async (names, lanes, isOver) => {
      let cases = 0
      const next = (): Plan | undefined => {
        if (isOver(cases)) return undefined
        cases += 1
        return nextOf(names)
      }
      await rig.runner.run(next, lanes)
      return cases
    },
    finishAll: async () => [await honest.finish(), await rig.finish([TEAMS.attacks])],
    stop: async () => {
      await honest.stop()
      await rig.stop()
    },
  }
}

/** Returns whether more honest requests have succeeded since than can have been in flight, so that some were sent since. */
export function servedSince(honest: Honest): () => boolean {
  const { clients } = honest
  const before = honest.counts()
  return () => {
    const { sends, reads } = honest.counts()
    return sends - before.sends > clients.sends && reads - before.reads > clients.reads
  }
}
