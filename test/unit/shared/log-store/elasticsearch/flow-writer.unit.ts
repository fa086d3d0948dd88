import { expect, test } from 'vitest'
import { flowFact } from '../../../../../consumers/projections/flows.ts'
import type { FlowDelta } from '../../../../../shared/contract/documents.ts'
import type { Bulk, Settled } from '../../../../../shared/log-store/elasticsearch/bulk.ts'
import { AnswerTooLongError } from '../../../../../shared/log-store/elasticsearch/connection.ts'
import type { FlowSummary } from '../../../../../shared/log-store/elasticsearch/flow-summary.ts'
import { createFlowWriter } from '../../../../../shared/log-store/elasticsearch/flow-writer.ts'
import { indexNames } from '../../../../../shared/log-store/elasticsearch/index-names.ts'
import { createMetrics } from '../../../../../shared/runtime/metrics.ts'
import { eventLog } from '../../../../support/consumers-records.ts'

const at = (second: number): string => `2026-11-23T10:00:${String(second).padStart(2, '0')}.000Z`
const delta = (correlationKey: string, second = 0): FlowDelta =>
  flowFact(eventLog(1, { correlationKey, timestamp: at(second) })) as FlowDelta
const { signal } = new AbortController()

/** An index of flows, as far as the writer knows it: reads by id, and writes on condition of a version. */
function createIndex() {
  const stored = new Map<string, { readonly summary: FlowSummary; readonly seqNo: number }>()
  const reads: number[] = []
  let longest = 0
  let seqNo = 0
  let held: Promise<void> | undefined
  const put = (id: string, summary: FlowSummary): Settled => {
    stored.set(id, { summary, seqNo: ++seqNo })
    return { outcome: 'stored', version: { seqNo, term: 1 } }
  }
  const bulk: Omit<Bulk, 'problem'> = {
    persist: (task) => task(),
    run: async (items, linesOf) => {
      const settled = [...items].map((item): Settled => {
        const [action = '', source = ''] = linesOf(item)
        const { create, index } = JSON.parse(action)
        const { _id: id, if_seq_no: basis } = create ?? index
        return stored.get(id)?.seqNo === basis ? put(id, JSON.parse(source)) : { outcome: 'duplicate' }
      })
      const answered = held
      held = undefined
      await answered
      return settled
    },
  }
  let generation = 1
  const send = async ({
    path,
    body,
    answerBytesMax = Number.POSITIVE_INFINITY,
  }: {
    readonly path: string
    readonly body: { readonly docs: readonly { readonly _id: string }[] }
    readonly answerBytesMax?: number
  }) => {
    if (path === '/sluice-flows-v1/_settings/index.uuid') return { generation } as never
    reads.push(body.docs.length)
    const docs = body.docs.map(({ _id }) => {
      const found = stored.get(_id)
      return { _id, found: found !== undefined, _seq_no: found?.seqNo, _primary_term: 1, _source: found?.summary }
    })
    const bytes = JSON.stringify(docs).length
    if (bytes > answerBytesMax) throw new AnswerTooLongError('the summaries are too long')
    longest = Math.max(longest, bytes)
    return { docs } as never
  }
  return {
    reads,
    /** The characters of the longest answer. */
    longest: () => longest,
    /** The answer to the next write comes only once the function that is returned has been called. */
    holdNextAnswer: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
    flows: () => [...stored.values()].map(({ summary }) => summary),
    /** Another index takes its place, as by a rebuild; its versions begin anew. */
    replace: () => {
      generation += 1
      seqNo = 0
      for (const [id, { summary }] of [...stored]) put(id, summary)
    },
    /** A process of its own. */
    writer: () => {
      const metrics = createMetrics()
      const merge = createFlowWriter({
        bulk: bulk as Bulk,
        connection: { send: send as never, close: async () => undefined },
        names: indexNames('sluice'),
        metrics,
      })
      const conflicts = async () => (await metrics.counter('sluice_flow_conflicts_total').get()).values[0]?.value
      return { merge: (...deltas: readonly FlowDelta[]) => merge(deltas, signal), conflicts }
    },
  }
}

test('flows that another writer changed at the same time are written again, and counted', async () => {
  const index = createIndex()
  const [one, other] = [index.writer(), index.writer()]
  await Promise.all([one.merge(delta('a', 1), delta('b', 1)), other.merge(delta('a', 2))])
  expect(index.flows()).toMatchObject([
    { correlationKey: 'a', firstAt: at(1), lastAt: at(2) },
    { correlationKey: 'b', firstAt: at(1), lastAt: at(1) },
  ])
  expect(await other.conflicts()).toBe(1)
})

test('a flow that this process wrote last is not read again', async () => {
  const index = createIndex()
  const { merge, conflicts } = index.writer()
  await merge(delta('a', 1), delta('b', 1))
  await merge(delta('a', 3), delta('c', 2))
  await merge(delta('a', 2))
  expect(index.reads).toEqual([2, 1])
  expect(index.flows().map(({ lastAt }) => lastAt)).toEqual([at(3), at(1), at(2)])
  expect(await conflicts()).toBe(0)
})

test('a flow is read again once its index was replaced, where its version may be that of what another process wrote', async () => {
  const index = createIndex()
  const [one, other] = [index.writer(), index.writer()]
  await one.merge(delta('b', 1))
  await one.merge(delta('a', 1))
  index.replace()
  await other.merge(delta('b', 9))
  await other.merge(delta('a', 9))
  index.replace()
  await one.merge(delta('a', 2), delta('b', 2))
  expect(index.flows()).toMatchObject([{ lastAt: at(9) }, { lastAt: at(9) }])
})

test('a flow that other processes write as well is read each time, once that is known', async () => {
  const index = createIndex()
  const [one, other] = [index.writer(), index.writer()]
  for (let second = 1; second < 20; second += 2) {
    await one.merge(delta('a', second))
    await other.merge(delta('a', second + 1))
  }
  expect(index.flows()).toMatchObject([{ firstAt: at(1), lastAt: at(20) }])
  expect([await one.conflicts(), await other.conflicts()]).toEqual([1, 1])
})

test('merges of one process that meet on a flow go on knowing it', async () => {
  const index = createIndex()
  const { merge } = index.writer()
  await merge(delta('a', 1))
  await Promise.all([merge(delta('a', 2)), merge(delta('a', 3))])
  await merge(delta('a', 4))
  expect(index.flows()).toMatchObject([{ firstAt: at(1), lastAt: at(4) }])
  expect(index.reads).toEqual([1])
})

test('a flow that two merges of one process meet on is read once more, if the late one is answered first', async () => {
  const index = createIndex()
  const { merge } = index.writer()
  await merge(delta('a', 1))
  const release = index.holdNextAnswer()
  const first = merge(delta('a', 2))
  const second = merge(delta('a', 3))
  while (index.reads.length < 2) await new Promise(setImmediate)
  release()
  await Promise.all([first, second])
  await merge(delta('a', 4))
  await merge(delta('a', 5))
  expect(index.flows()).toMatchObject([{ firstAt: at(1), lastAt: at(5) }])
  expect(index.reads).toEqual([1, 1])
})

test('flows beyond a bound are forgotten, and read', async () => {
  const index = createIndex()
  const { merge } = index.writer()
  const many = Array.from({ length: 4_000 }, (_, number) => delta(`${number} ${'x'.repeat(500)}`))
  await merge(...many)
  const before = index.reads.length
  await merge(...many.slice(0, 1))
  await merge(...many.slice(-1))
  expect(index.reads.slice(before)).toEqual([1])
  expect(index.flows()).toHaveLength(4_000)
})

test('flows with many long values are read a few at a time', async () => {
  const index = createIndex()
  const environments = Array.from({ length: 60 }, (_, number) => String(number).padStart(256, 'x'))
  const long = Array.from({ length: 400 }, (_, number) => ({ ...delta(`flow-${number}`), environments }))
  await index.writer().merge(...long)
  await index.writer().merge(...long.map((one) => ({ ...one, lastAt: at(30) })))
  expect(index.longest()).toBeGreaterThan(500_000)
  expect(index.longest()).toBeLessThan(4 * 1024 * 1024)
  expect(index.flows()).toHaveLength(400)
  expect(new Set(index.flows().map(({ lastAt }) => lastAt))).toEqual(new Set([at(30)]))
})
