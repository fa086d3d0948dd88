import { expect } from 'vitest'
import { groupName, PROJECTION_NAMES } from '../../consumers/projection.ts'
import type { Item } from './api.ts'
import { sourceTopics } from './consumers-records.ts'
import { eventually } from './eventually.ts'
import type { FullStack } from './full-stack.ts'
import { ledgerLine } from './ledger.ts'
import { type Load, TURN } from './load.ts'

/** The maximum time for a group to catch up: a killed member has to time out, and a rebalance may follow. */
const CAUGHT_UP_WITHIN_MS = 150_000
const FLOWS_COMPARED = 8

/**
 * Runs a load during a fault and after it, until `work` resolves, and then checks the result: every entry answered `success:true` is
 * readable exactly once and nothing else is, every view has committed the end of its topics, and flows agree with the lists.
 */
export async function prove(stack: FullStack, name: string, work: (load: Load) => Promise<void>): Promise<void> {
  const load = stack.startLoad(name.replaceAll(' ', '-'))
  try {
    await load.answeredMore(TURN)
    await work(load)
    await load.answeredMore(TURN)
    await load.stop()
    await caughtUp(stack)
  } catch (error) {
    process.stderr.write(`${name} failed; the processes have printed:\n${stack.printed()}\n`)
    throw error
  } finally {
    await load.stop()
  }
  const stored = await storedOf(stack, load.environment)
  const result = load.ledger.settle(stored.map(({ message, payload }) => message ?? payload ?? ''))
  const failures = [...load.failures].map(([code, count]) => `${count} ${code}`).join(', ')
  process.stderr.write(`${ledgerLine(name, result)}${failures && ` (failed requests: ${failures})`}\n`)
  expect(result.answered).toBeGreaterThanOrEqual(2 * TURN)
  expect(result.missing).toEqual([])
  expect(result.duplicates).toEqual([])
  expect(result.strangers).toEqual([])
  expect(stack.warnings()).toEqual([])
  await expectFlows(stack, load.environment, stored)
}

/** Resolves when every projection has committed the end of all its partitions. */
export async function caughtUp({ journal, topicPrefix }: FullStack): Promise<void> {
  await eventually(async () => {
    for (const view of PROJECTION_NAMES) {
      for (const topic of sourceTopics(topicPrefix, view)) {
        const positions = await journal.positions(topic, groupName(topicPrefix, view))
        const behind = positions.filter((each) => (each.committed ?? each.firstOffset) !== each.endPosition)
        if (behind.length > 0) throw new Error(`${view} is behind: ${JSON.stringify(behind)}`)
      }
    }
  }, CAUGHT_UP_WITHIN_MS)
}

/** All entries of both kinds that the read API returns for an environment. */
export async function storedOf(stack: FullStack, environment: string): Promise<readonly Item[]> {
  await fetch(`${stack.elasticsearchUrl}/${stack.indexPrefix}-*/_refresh`, { method: 'POST' })
  const client = stack.client()
  const lists = ['event-logs', 'application-logs'].map((list) => client.all(`/api/${list}?environment=${environment}`))
  return (await Promise.all(lists)).flat()
}

interface FlowSummary {
  readonly correlationKey: string
  readonly firstAt: string
  readonly lastAt: string
  readonly total: number
}

/** The flows of an environment in the read API, without their states, which depend on the time and on learnt waits. */
export async function flowsOf(stack: FullStack, environment: string): Promise<readonly FlowSummary[]> {
  const path = `/api/flows?environment=${environment}&limit=1000`
  const { data } = await stack
    .client()
    .get<{ items: readonly (FlowSummary & { state: string; reason: string })[] }>(path)
  return data.items.map(({ state: _, reason: __, ...summary }) => summary)
}

/** Checks that the summaries list exactly the flows of the stored entries; for some flows also their count and first and last times. */
async function expectFlows(stack: FullStack, environment: string, stored: readonly Item[]): Promise<void> {
  const byKey = Map.groupBy(stored, ({ correlationKey }) => correlationKey ?? '')
  byKey.delete('')
  const client = stack.client()
  const flows = await flowsOf(stack, environment)
  expect(flows.map(({ correlationKey }) => correlationKey).sort()).toEqual([...byKey.keys()].sort())
  for (const [key, entries] of [...byKey].slice(0, FLOWS_COMPARED)) {
    const times = entries.map(({ timestamp = '' }) => timestamp).sort()
    const expected = { correlationKey: key, total: entries.length, firstAt: times[0], lastAt: times.at(-1) }
    expect(flows.find(({ correlationKey }) => correlationKey === key)).toMatchObject(expected)
    const flow = await client.get<{ summary: FlowSummary }>(`/api/flows/${encodeURIComponent(key)}`)
    expect(flow.data.summary).toMatchObject(expected)
  }
}

/** The sum of a metric over all its labels, in one process. */
export async function metricOf(url: string, name: string, label = ''): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const lines = text.split('\n').filter((line) => new RegExp(`^${name}[{ ]`).test(line) && line.includes(label))
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}
