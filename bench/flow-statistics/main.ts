/** `npm run bench:statistics`: compares statistics of flows, whose durations are those of a sample, with those of all flows. See `-- --help`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { eventLogDocument } from '../../consumers/projections/entries.ts'
import { flowFact, foldFlows } from '../../consumers/projections/flows.ts'
import type { EventLogRecord } from '../../shared/contract/records.ts'
import { DAY_MS, timestampOf } from '../../shared/contract/timestamp.ts'
import { EVERY_FLOW } from '../../shared/log-store/log-store.ts'
import { createSqliteLogStore } from '../../shared/log-store/sqlite/sqlite-log-store.ts'
import type { StepEntity } from '../../shared/registry/registry.ts'
import { durationsOf } from '../../views/api/flow-sample.ts'
import { readStatistics } from '../../views/api/flow-statistics.ts'
import type { Names } from '../../views/api/names.ts'
import { table, whole } from '../numbers.ts'
import { createRandom, type Random } from '../reads/records.ts'

const HELP = `npm run bench:statistics -- [--flows N]

Stores a month of flows of two Events on SQLite, one in fifty of whose logs comes days late, and prints their statistics as the API gives them
beside those of all flows. Default: 100000 flows.
`

const DAYS = 30
const START_MS = Date.parse('2026-09-01T00:00:00Z')
const END_MS = START_MS + DAYS * DAY_MS
const TEAM = 'bench'
const BATCH = 2_000

/** Each Step with its median duration (seconds), and the part of the flows that go on to it. */
const PROCESSES = {
  order: [
    ['order.validate', 2, 0.99],
    ['order.pay', 45, 0.93],
    ['order.pack', 5_400, 0.97],
    ['order.ship', 30_000, 0.985],
  ],
  refund: [
    ['refund.check', 20, 0.8],
    ['refund.pay', 86_400, 0.95],
  ],
} as const satisfies Record<string, readonly (readonly [step: string, seconds: number, share: number])[]>
type EventName = keyof typeof PROCESSES
const EVENTS = Object.keys(PROCESSES) as readonly EventName[]

const stepsOf = (event: string): readonly StepEntity[] =>
  (PROCESSES[event as EventName] ?? []).map(([identifier], index) => ({
    ...{ kind: 'step', identifier, team: TEAM, name: identifier, event, order: index + 1 },
  }))
const named = (identifier: string) => ({ identifier, name: null })
const names: Names = {
  event: named,
  step: named,
  project: (id) => ({ id, name: null }),
  inQuery: (query) => query,
  stepsOf,
  processes: () => EVENTS.map((event) => [event, stepsOf(event)]),
}

/** All durations of a Step in milliseconds: what the statistics of all flows are made of. */
const durations = new Map<string, number[]>()
function times(step: string): number[] {
  const known = durations.get(step) ?? []
  durations.set(step, known)
  return known
}

/** The logs of a flow; durations vary over the day, and their logarithms are normal. */
function flowOf(flow: number, count: number, random: Random): readonly EventLogRecord[] {
  const event = random.below(5) === 0 ? 'refund' : 'order'
  let at = START_MS + Math.floor((flow / count) * (END_MS - START_MS))
  const log = (step: string | null): EventLogRecord => {
    const lateMs = random.below(50) === 0 ? random.below(3 * DAY_MS) : 100
    return {
      ...{ kind: 'event', id: random.guid(at), team: TEAM, level: 'Information', environment: 'Production' },
      ...{ timestamp: timestampOf(at), receivedAt: timestampOf(at + lateMs), correlationKey: `flow-${flow}` },
      ...{ event, step, payload: '' },
    }
  }
  const logs = [log(null)]
  for (const [step, seconds, share] of PROCESSES[event]) {
    if (random.fraction() > share) break
    const normal = Math.sqrt(-2 * Math.log(1 - random.fraction())) * Math.cos(2 * Math.PI * random.fraction())
    const ofDay = 1 + 0.5 * Math.sin((2 * Math.PI * at) / DAY_MS)
    const duration = Math.max(1, Math.round(seconds * 1_000 * ofDay * Math.exp(0.6 * normal)))
    at += duration
    if (at >= END_MS) break
    times(step).push(duration)
    logs.push(log(step))
  }
  return logs
}

const { values } = parseArgs({
  options: { flows: { type: 'string', default: '100000' }, help: { type: 'boolean', default: false } },
})

async function main(count: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const store = await createSqliteLogStore({ file: join(directory, 'logs.db'), thread: 'same', logger: console })
  const { signal } = new AbortController()
  const random = createRandom(1)
  const started = new Map<string, number>()
  try {
    const logs = Array.from({ length: count }, (_, flow) => flowOf(flow, count, random))
    for (const [{ event } = { event: null }] of logs) started.set(event ?? '', (started.get(event ?? '') ?? 0) + 1)
    const arrived = logs.flat().sort((a, b) => (a.receivedAt < b.receivedAt ? -1 : 1))
    for (let at = 0; at < arrived.length; at += BATCH) {
      const batch = arrived.slice(at, at + BATCH)
      await store.write(
        batch.map((log) => eventLogDocument(log, JSON.stringify(log))),
        signal,
      )
      await store.mergeFlows(foldFlows(batch.map(flowFact).filter((fact) => fact !== null)), signal)
    }
    const range = { from: timestampOf(START_MS), to: timestampOf(END_MS) }
    const moment = { now: END_MS, waits: new Map() }
    const begin = performance.now()
    const { items, sampled } = await readStatistics(
      store,
      { ...EVERY_FLOW, team: TEAM, ...range },
      names,
      moment,
      signal,
    )
    const ms = performance.now() - begin
    const seconds = (time: number): string => (time / 1_000).toFixed(1)
    const rows = items.flatMap(({ event, steps, ...item }) =>
      steps.map(({ step, reached, duration }) => {
        const exact = durationsOf(times(step.identifier))
        const pair = (name: 'p50' | 'p95'): string[] => {
          const [told, all] = [duration?.[name] ?? 0, exact?.[name] ?? 0]
          return [seconds(told), seconds(all), `${((100 * (told - all)) / all).toFixed(1)} %`]
        }
        const all = times(step.identifier).length
        return [
          ...[step.identifier, whole(reached), whole(all), (reached / item.started).toFixed(4)],
          ...[(all / (started.get(event.identifier) ?? 0)).toFixed(4), ...pair('p50'), ...pair('p95')],
        ]
      }),
    )
    const head = [
      'Step',
      'reached',
      'exact',
      'share',
      'exact',
      'p50, s',
      'exact',
      'off by',
      'p95, s',
      'exact',
      'off by',
    ]
    process.stdout.write(
      `\n${table(head, rows)}\n${whole(count)} flows, of which ${whole(sampled)} were sampled; ${whole(ms)} ms.\n`,
    )
  } finally {
    await store.close()
    rmSync(directory, { recursive: true })
  }
}

const count = Number(values.flows)
if (values.help || !Number.isSafeInteger(count) || count < 1) {
  process.stdout.write(HELP)
  process.exitCode = values.help ? 0 : 2
} else await main(count)
