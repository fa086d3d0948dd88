import { createRandom } from '../fuzz/random.ts'
import { type Draw, SOAK_FAULTS, type SoakFaultName } from './faults.ts'

/** A fault of a round; it begins `afterMs` after the round's start. */
export interface Planned extends Draw {
  readonly name: SoakFaultName
  readonly afterMs: number
}

const NAMES = Object.keys(SOAK_FAULTS) as readonly SoakFaultName[]
const APART_MS_MAX = 5_000
const [LASTS_MS_MIN, LASTS_MS_MAX] = [500, 20_000]

/** The two faults of a round, on different parts of the stack; the same for the same seed. */
export function roundOf(seed: number, round: number): readonly [Planned, Planned] {
  const random = createRandom(seed, round)
  const plan = (names: readonly SoakFaultName[], apartMs: number): Planned => ({
    name: random.pick(names),
    afterMs: random.int(apartMs),
    lastsMs: random.between(LASTS_MS_MIN, LASTS_MS_MAX),
    which: random.int(1_000),
  })
  const first = plan(NAMES, 1)
  const others = NAMES.filter((name) => SOAK_FAULTS[name].hurts !== SOAK_FAULTS[first.name].hurts)
  return [first, plan(others, APART_MS_MAX)]
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

/** Such as `broker killed for 4.0 s, after 1.2 s consumers frozen for 12.3 s`. */
export const roundText = ([first, second]: ReturnType<typeof roundOf>): string =>
  `${first.name} for ${seconds(first.lastsMs)}, after ${seconds(second.afterMs)} ${second.name} for ${seconds(second.lastsMs)}`
