import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FindingGroup } from '../fuzz/findings.ts'
import { FEW } from '../fuzz/honest/order.ts'
import { ATTACK_NAMES, type Hostile, servedSince, startHostile } from '../fuzz/hostile.ts'
import { findingText } from '../fuzz/report.ts'
import type { RigOptions } from '../fuzz/rig.ts'
import { FAULT_SCALE } from './eventually.ts'

const SEED = 20_260_101
/** The minimum number of cases per attack; most attacks are repeated until enough honest requests have succeeded. */
const ONE_BY_ONE = { cases: FAULT_SCALE, lanes: 2 }
const AT_ONCE = { cases: 12 * FAULT_SCALE, lanes: 4 }
const START_WITHIN_MS = 120_000
const PATIENCE_MS = 120_000 * FAULT_SCALE

/**
 * Runs every known attack at full size against one running program, while honest clients of other Teams store and read. An attack continues
 * until honest requests sent since its start have been answered.
 */
export function describeHostile(start: RigOptions['start']): void {
  let hostile: Hostile
  beforeAll(async () => {
    const onFinding: RigOptions['onFinding'] = (finding) =>
      void process.stderr.write(`${findingText(finding, (number) => `seed ${SEED}, case ${number}`)}\n`)
    hostile = await startHostile({ start, stalls: false, onFinding }, SEED, FEW)
  }, START_WITHIN_MS)
  afterAll(() => hostile?.stop(), 60_000)

  /** The findings that occurred, also repeatedly, during `work`. */
  async function foundBy(work: () => Promise<unknown>): Promise<readonly string[]> {
    const counted = new Map(hostile.findings.groups().map(({ what, count }) => [what, count]))
    await work()
    const isNew = ({ what, count }: FindingGroup): boolean => count > (counted.get(what) ?? 0)
    return hostile.findings
      .groups()
      .filter(isNew)
      .map(({ what }) => what)
  }

  const attack = (names: readonly string[], { cases, lanes }: typeof AT_ONCE): Promise<readonly string[]> =>
    foundBy(() => {
      const areServed = servedSince(hostile.honest)
      return hostile.attack(names, lanes, (done) => done >= cases && areServed())
    })

  test.each(ATTACK_NAMES)('%s', async (name) => expect(await attack([name], ONE_BY_ONE)).toEqual([]), PATIENCE_MS)

  test('all of them at once', async () => expect(await attack(ATTACK_NAMES, AT_ONCE)).toEqual([]), PATIENCE_MS)

  test(
    'no honest request has failed, and whatever was accepted is stored once',
    async () => {
      const found = await foundBy(async () => {
        const [honest, attackers] = await hostile.finishAll()
        expect(honest.accepted).toBeGreaterThan(0)
        expect(attackers.accepted).toBeGreaterThan(0)
      })
      expect(found).toEqual([])
      expect(hostile.honest.counts().failed).toBe(0)
    },
    PATIENCE_MS,
  )
}
