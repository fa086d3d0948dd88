import { expect, test } from 'vitest'
import { soak } from '../soak/soak.ts'
import { describeWithBackends } from '../support/backends.ts'
import { FAULT_SCALE } from '../support/fault-scale.ts'
import { PREFERRED_LEADERS } from '../support/kafka-moves.ts'

const MINUTE = 60_000
const needs = { kafka: { brokers: 3, properties: PREFERRED_LEADERS }, elasticsearch: {} } as const

await describeWithBackends('a soak, full stack', needs, (servers) => {
  test(
    'two faults at a time, as a seed says',
    async () => {
      const print = (line: string): void => void process.stderr.write(`${line}\n`)
      const rounds = await soak(servers, { seed: 20_261_123, forMs: 0.5 * MINUTE * FAULT_SCALE, print })
      expect(rounds).toBeGreaterThan(0)
    },
    10 * MINUTE * FAULT_SCALE,
  )
})
