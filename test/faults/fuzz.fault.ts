import { expect, test } from 'vitest'
import { fuzz } from '../fuzz/fuzz.ts'
import { FAULT_SCALE } from '../support/eventually.ts'

const REQUESTS = 15_000 * FAULT_SCALE
const PATIENCE_MS = 300_000 * FAULT_SCALE

test(
  'whatever is sent, the embedded server stays up, answers as it should and loses nothing',
  async () => {
    const summary = await fuzz({
      mode: 'embedded',
      seed: 20_260_101,
      requests: REQUESTS,
      lanes: 64,
      // In the short form, only hostile.fault.ts runs the attacks: a dozen of them took twice the CPU of all other requests.
      attacks: FAULT_SCALE > 1,
      stalls: false,
      bail: false,
      print: (text) => void process.stderr.write(`${text}\n`),
    })
    expect(summary.answers).toBeGreaterThan(REQUESTS / 2)
    expect(summary.settlement.accepted).toBeGreaterThan(REQUESTS / 4)
    expect(summary.findings.map(({ what, numbers }) => ({ what, numbers }))).toEqual([])
  },
  PATIENCE_MS,
)
