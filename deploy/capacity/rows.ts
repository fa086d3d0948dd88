import { readFigures } from './figures.ts'
import { type Plan, planFor, USUAL_LOAD } from './plan.ts'

const whole = (value: number): string => Math.ceil(value).toLocaleString('en-US')
const cores = (value: number): string => (value < 10 ? value.toFixed(1) : whole(value))
const terabytes = (bytes: number): string => `${(bytes / 1e12).toFixed(bytes < 1e14 ? 1 : 0)} TB`

/** The sizes of a plan by their names. */
export const PLAN_ROWS: readonly (readonly [name: string, text: (plan: Plan) => string])[] = [
  ['gateways', ({ gateways }) => whole(gateways)],
  ['consumers of each projection of entries', ({ entryConsumers }) => whole(entryConsumers)],
  ['consumers of the flows', ({ flowConsumers }) => whole(flowConsumers)],
  ['partitions of each topic of entries', ({ partitions }) => whole(partitions)],
  ['cores of the brokers', ({ brokerCores }) => cores(brokerCores)],
  ['disks of the brokers', ({ topicBytes }) => terabytes(topicBytes)],
  ['cores of Elasticsearch', ({ storeCores }) => cores(storeCores)],
  ['disks of Elasticsearch', ({ storeBytes }) => terabytes(storeBytes)],
  ['shards of the index of a day and kind', ({ shardsOfDay }) => whole(shardsOfDay)],
  ['shards of the index of flows', ({ flowsShards }) => whole(flowsShards)],
  ['open shards', ({ openShards }) => whole(openShards)],
]

const RATES = [10_000, 100_000, 1_000_000]

/** The plans of docs/capacity.md as rows of cells, the first row being the head. */
export function capacityRows(): readonly (readonly string[])[] {
  const figures = readFigures()
  const plans = RATES.map((entriesPerSecond) => planFor({ ...USUAL_LOAD, entriesPerSecond }, figures))
  const walls = plans.map(({ walls: crossed }) => crossed.join('; ') || 'none')
  return [
    ['entries a second', ...RATES.map(whole)],
    ...PLAN_ROWS.map(([name, text]) => [name, ...plans.map(text)]),
    ['limits that are crossed', ...walls],
  ]
}
