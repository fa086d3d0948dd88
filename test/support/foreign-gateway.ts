import { createRefusalRecorder } from '../../gateway/refusals/recorder.ts'
import type { NotedRefusal } from '../../shared/contract/refusals.ts'
import { type GatewayOptions, type RunningGateway, startGateway } from './gateway.ts'
import { registryOf } from './registry-topic.ts'

export const KEY = 'key-of-shop-0123456789abcdef0123456789'
export const LONE_KEY = 'key-of-lone-0123456789abcdef0123456789'
export const CHECKOUT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
export const STOCK = '3f2504e0-4f89-11d3-9a0c-0305e82c3302'
export const RETIRED = '3f2504e0-4f89-11d3-9a0c-0305e82c3305'
/** A Project of another Team. */
export const LONE = '3f2504e0-4f89-11d3-9a0c-0305e82c3306'

/** A Team with several Projects, two of which share a name, and one with a single Project. */
export const foreignRegistry = registryOf(`
teams: [{ id: shop, apiKeys: ["${KEY}"] }, { id: lone, apiKeys: ["${LONE_KEY}"] }]
projects:
  - { id: ${CHECKOUT}, team: shop, name: Checkout API }
  - { id: ${STOCK}, team: shop, name: Stock }
  - { id: 3f2504e0-4f89-11d3-9a0c-0305e82c3303, team: shop, name: Twin }
  - { id: 3f2504e0-4f89-11d3-9a0c-0305e82c3304, team: shop, name: TWIN }
  - { id: ${RETIRED}, team: shop, name: Retired, archived: true }
  - { id: ${LONE}, team: lone, name: Lone }
  - { id: 3f2504e0-4f89-11d3-9a0c-0305e82c3307, team: lone, name: Old, archived: true }
`)

export interface ForeignGateway extends RunningGateway {
  /** The recorded refusals, in order; a test may clear it. */
  readonly noted: NotedRefusal[]
}

/** A gateway with `foreignRegistry` that records each refusal. */
export async function startForeignGateway(options: Pick<GatewayOptions, 'config'> = {}): Promise<ForeignGateway> {
  const noted: NotedRefusal[] = []
  const outbox = { push: (record: unknown) => noted.push(record as NotedRefusal) > 0, miss: () => undefined }
  // Each call advances the clock by an hour, so that every refusal is within the recording rate limit.
  let now = 0
  const clock = { now: () => (now += 3_600_000) }
  const refusalRecorder = createRefusalRecorder({ registry: foreignRegistry, clock, outbox })
  const gateway = await startGateway({ ...options, registry: foreignRegistry, refusalRecorder })
  return { ...gateway, noted }
}
