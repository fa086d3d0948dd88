import { describe, expect, test } from 'vitest'
import { type BatchDeps, commitPatiently, createBatchHandler } from '../../../consumers/batch.ts'
import { type BadRecord, deadLetter } from '../../../consumers/dead-letters.ts'
import { createInstruments, createLag } from '../../../consumers/metrics.ts'
import { ok, type Projection, skip } from '../../../consumers/projection.ts'
import { AppendError, type Headers, type PartitionBatch } from '../../../shared/journal/journal.ts'
import type { WriteOutcome } from '../../../shared/log-store/log-store.ts'
import { createMetrics } from '../../../shared/runtime/metrics.ts'
import { createSampler, LINKS_MAX, type Tracer } from '../../../shared/runtime/tracing.ts'
import { EVENT_TOPIC, readRecord } from '../../support/consumers-records.ts'
import { silent } from '../../support/consumers-rig.ts'
import { createMemoryStoreWriter } from '../../support/consumers-store.ts'
import { eventually } from '../../support/eventually.ts'
import * as fc from '../../support/fast-check.ts'
import { createMemoryTracer, traceparentOf } from '../../support/memory-tracer.ts'

const clock = { now: () => 10_000 }

/** A projection whose items are the texts of its records; `bad` and `none` are a dead letter and nothing. */
function setUp({
  texts,
  write = async (items) => items.map(() => ({ outcome: 'stored' })),
  append = async () => undefined,
  endPosition,
  offsets = texts.map((_, index) => 10 + index * 2),
  headers = [],
  recordsMax = 2,
  gatherMs = 0,
  tracer,
}: {
  texts: readonly string[]
  offsets?: readonly number[]
  write?: (items: readonly string[], signal: AbortSignal) => Promise<readonly WriteOutcome[]>
  append?: (bad: readonly BadRecord[]) => Promise<void>
  endPosition?: number
  headers?: readonly Headers[]
  recordsMax?: number
  gatherMs?: number
  tracer?: Tracer
}) {
  const commits: number[] = []
  const abort = new AbortController()
  const lag = createLag()
  const records = texts.map((text, index) =>
    readRecord(text, { offset: offsets[index] ?? 0, appendedAt: index * 1_000, headers: headers[index] ?? {} }),
  )
  const batch: PartitionBatch = {
    topic: EVENT_TOPIC,
    partition: 0,
    records,
    endPosition: endPosition ?? (records.at(-1)?.offset ?? 0) + 1,
    signal: abort.signal,
    commit: async (position) => void commits.push(position),
  }
  const projection: Projection<string> = {
    name: 'event-logs',
    sources: [],
    write: (items, _, signal) => write([...items], signal),
  }
  const deps: BatchDeps = {
    store: createMemoryStoreWriter(),
    deadLetters: { open: async () => undefined, append },
    deadLetterLimits: { runMax: 10, ratioMax: 1, windowRecords: 10 },
    chunkLimits: { recordsMax, bytesMax: 1_000 },
    gatherMs,
    lag,
    instruments: createInstruments(createMetrics(), 'event-logs', clock),
    logger: silent,
    onHeldUp: () => undefined,
    tracing: tracer && { tracer, group: 'g' },
  }
  const project = (text: string) => {
    if (text === 'none') return skip
    return text === 'bad' ? deadLetter('invalid_json', 'bad') : ok(text, '2026-03-01T10:00:00.000Z')
  }
  const handle = createBatchHandler(
    projection,
    () =>
      ({ value }) =>
        project(String(value)),
    deps,
  )
  return { run: () => handle(batch), commits, abort, lag }
}

describe('a batch', () => {
  test('is committed chunk by chunk, after its documents and dead letters', async () => {
    const events: string[] = []
    const { run, commits } = setUp({
      texts: ['a', 'bad', 'none', 'b', 'c'],
      write: async (items) => {
        events.push(`write ${items.join()} after ${commits.join()}`)
        return items.map(() => ({ outcome: 'stored' }))
      },
      append: async (bad) => {
        events.push(`dead letters ${bad.map(({ record }) => record.offset).join()} after ${commits.join()}`)
      },
    })
    await run()
    expect(events).toEqual(['write a after ', 'dead letters 12 after ', 'write b after 13', 'write c after 13,17'])
    expect(commits).toEqual([13, 17, 19])
  })

  test('is committed only up to records that are stored, dead letters or skipped, whatever fails and wherever offsets are missing', async () => {
    const kinds = fc.constantFrom('item', 'bad', 'none', 'failing')
    const records = fc
      .uniqueArray(fc.nat(1_000), { maxLength: 12 })
      .map((offsets) => offsets.toSorted((a, b) => a - b))
      .chain((offsets) => fc.tuple(fc.constant(offsets), fc.array(kinds, { minLength: 12, maxLength: 12 })))
    await fc.assert(
      fc.asyncProperty(records, async ([offsets, kindOf]) => {
        const texts = offsets.map((offset, index) =>
          kindOf[index] === 'item' ? `item ${offset}` : (kindOf[index] ?? ''),
        )
        const settled = new Set(offsets.filter((_, index) => kindOf[index] === 'none'))
        const { run, commits } = setUp({
          texts,
          offsets,
          write: async (items) => {
            if (items.includes('failing')) throw new Error('the store fails')
            for (const item of items) settled.add(Number(item.slice('item '.length)))
            return items.map(() => ({ outcome: 'stored' }))
          },
          append: async (bad) => {
            for (const { record } of bad) settled.add(record.offset)
          },
        })
        const isDone = await run().then(
          () => true,
          () => false,
        )
        expect(isDone).toBe(!texts.includes('failing'))
        expect(commits).toEqual(commits.toSorted((a, b) => a - b))
        const committed = commits.at(-1) ?? 0
        expect(offsets.filter((offset) => offset < committed && !settled.has(offset))).toEqual([])
        if (isDone) expect(committed).toBe((offsets.at(-1) ?? -1) + 1)
      }),
    )
  })

  test('with nothing to write is committed all the same', async () => {
    const { run, commits } = setUp({ texts: ['none', 'none'] })
    await run()
    expect(commits).toEqual([13])
  })

  test('commits nothing more once its signal is aborted, though the write ended well', async () => {
    const { run, commits, abort } = setUp({
      texts: ['a', 'b', 'c'],
      write: async (items) => {
        if (items.includes('c')) abort.abort()
        return items.map(() => ({ outcome: 'stored' }))
      },
    })
    await run()
    expect(commits).toEqual([13])
  })

  test('writes no dead letter once its signal is aborted', async () => {
    let appended = 0
    const { run, abort } = setUp({
      texts: ['a', 'bad'],
      write: async (items) => {
        abort.abort()
        return items.map(() => ({ outcome: 'stored' }))
      },
      append: async () => {
        appended += 1
      },
    })
    await run()
    expect(appended).toBe(0)
  })

  test('waits for a journal that cannot take its dead letters for a while', async () => {
    const failures = [new AppendError('too few replicas', 'not_written'), new AppendError('no answer', 'unknown')]
    const appended: number[] = []
    const { run, commits } = setUp({
      texts: ['a', 'bad'],
      append: async (bad) => {
        const failure = failures.shift()
        if (failure !== undefined) throw failure
        appended.push(...bad.map(({ record }) => record.offset))
      },
    })
    await run()
    expect(appended).toEqual([12])
    expect(commits).toEqual([13])
  })

  test.each([
    new AppendError('there is no such topic', 'not_written', { isFinal: true }),
    new TypeError('x is not a function'),
  ])('fails if its dead letters will not be taken: $message', async (error) => {
    const { run, commits } = setUp({ texts: ['a', 'bad'], append: () => Promise.reject(error) })
    await expect(run()).rejects.toThrow(error)
    expect(commits).toEqual([])
  })

  test('counts its dead letters towards a flood in all of its chunks', async () => {
    const offsets = Array.from({ length: 11 }, (_, index) => index)
    const { run, commits } = setUp({ texts: offsets.map(() => 'bad'), offsets })
    await expect(run()).rejects.toThrow('more than 10 dead letters in a row')
    expect(commits).toEqual([2, 4, 6, 8, 10])
  })

  test('that comes again does not count its dead letters twice towards a flood', async () => {
    const { run, commits } = setUp({ texts: Array.from({ length: 6 }, () => 'bad') })
    await run()
    await run()
    expect(commits).toEqual([13, 17, 21, 13, 17, 21])
  })

  test('fails with what fails, unless its signal is aborted', async () => {
    const failing = setUp({ texts: ['a'], write: () => Promise.reject(new Error('no')) })
    await expect(failing.run()).rejects.toThrow('no')
    expect(failing.commits).toEqual([])

    const aborted = setUp({
      texts: ['a'],
      write: () => {
        aborted.abort.abort()
        return Promise.reject(new Error('no'))
      },
    })
    await aborted.run()
    expect(aborted.commits).toEqual([])
    expect(aborted.lag.seconds(10_000)).toBe(0)
  })

  test('is gathered after only if nothing follows it, until the time is over or the partition is taken away', async () => {
    const day = 86_400_000
    const more = setUp({ texts: ['a', 'b', 'c'], endPosition: 99, gatherMs: day })
    await more.run()
    expect(more.commits).toEqual([13, 15])

    const last = setUp({ texts: ['a', 'b', 'c'], gatherMs: day })
    let isOver = false
    const run = last.run().finally(() => {
      isOver = true
    })
    await eventually(() => last.commits.length === 2)
    // Nothing is held meanwhile: all is committed, and no record waits.
    expect([isOver, last.lag.seconds(10_000)]).toEqual([false, 0])
    last.abort.abort()
    await run

    const soonOver = setUp({ texts: ['a'], gatherMs: 1 })
    await soonOver.run()
    expect(soonOver.commits).toEqual([11])
  })

  test('tells how long its oldest record waits, and that of its partition while there is more', async () => {
    const seen: number[] = []
    const { run, lag } = setUp({
      texts: ['a', 'b', 'c'],
      endPosition: 99,
      write: async (items) => {
        seen.push(lag.seconds(10_000))
        return items.map(() => ({ outcome: 'stored' }))
      },
    })
    await run()
    expect([...seen, lag.seconds(10_000)]).toEqual([10, 8, 8])

    const last = setUp({ texts: ['a'] })
    await last.run()
    expect(last.lag.seconds(10_000)).toBe(0)
  })
})

/** A batch whose commits fail with the given errors, one after another, before they work. */
function batchOf(failures: readonly Error[]) {
  const abort = new AbortController()
  const tried: number[] = []
  const warned: object[] = []
  const batch: PartitionBatch = {
    topic: 'logs',
    partition: 0,
    records: [],
    endPosition: 9,
    signal: abort.signal,
    commit: async (position) => {
      const failure = failures[tried.length]
      tried.push(position)
      if (failure !== undefined) throw failure
    },
  }
  const logger = { warn: (facts: object) => void warned.push(facts) }
  return { commit: () => commitPatiently(batch, 7, logger as never), tried, warned, abort }
}

describe('a commit', () => {
  test('that the journal cannot take for a while is tried again, and warned of once', async () => {
    const { commit, tried, warned } = batchOf(Array.from({ length: 3 }, () => new Error('the disk is full')))
    await commit()
    expect(tried).toEqual([7, 7, 7, 7])
    expect(warned).toHaveLength(1)
  })

  test('is given up when the partition is taken away', async () => {
    const { commit, tried, abort } = batchOf(Array.from({ length: 99 }, () => new Error('the disk is full')))
    const committing = commit()
    abort.abort(new Error('taken away'))
    await expect(committing).rejects.toThrow('taken away')
    expect(tried).toEqual([7])
  })

  test('of a position that cannot be is a fault that is thrown', async () => {
    const { commit, tried } = batchOf([new RangeError('beyond the end')])
    await expect(commit()).rejects.toThrow('beyond the end')
    expect(tried).toEqual([7])
  })
})

describe('a traced batch', () => {
  test('has a span for each chunk with a traced record, in a trace of its own with links to those', async () => {
    const tracer = createMemoryTracer((wish) => wish === true)
    const wrong = ['00-1-2-01', traceparentOf(0), Buffer.from([0xfe])].map((traceparent) => ({ traceparent }))
    const [one, two, not] = [traceparentOf(1), traceparentOf(2), traceparentOf(3, '00')]
    const headers = [
      {},
      { traceparent: one },
      { traceparent: one },
      { traceparent: two },
      { traceparent: not },
      ...wrong,
    ]
    const texts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    await setUp({ texts, headers, tracer }).run()
    expect(tracer.spans.map(({ parent, links }) => [parent, links])).toEqual([
      [undefined, [one]],
      [undefined, [one, two]],
    ])
    expect(tracer.spans[0]).toMatchObject({
      name: `process ${EVENT_TOPIC}`,
      kind: 'consumer',
      attributes: { 'messaging.consumer.group.name': 'g', 'messaging.batch.message_count': 2 },
      ended: true,
    })
  })

  test('has no more links and spans than it may, whatever senders write into the headers', async () => {
    const tracer = createMemoryTracer(createSampler(0.01))
    const texts = Array.from({ length: 400 }, () => 'a')
    const headers = texts.map((_, index) => ({ traceparent: traceparentOf(index + 1) }))
    await setUp({ texts, headers, tracer, recordsMax: 100 }).run()
    expect(tracer.spans.map(({ links }) => links?.length)).toEqual([LINKS_MAX, LINKS_MAX, LINKS_MAX, LINKS_MAX])
    await setUp({ texts, headers, tracer, recordsMax: 1 }).run()
    expect(tracer.spans.length).toBeLessThanOrEqual(4 + 100 + 4)
  })

  test('fails as its write does', async () => {
    const tracer = createMemoryTracer()
    const write = () => Promise.reject(new RangeError('no'))
    const { run } = setUp({ texts: ['a'], headers: [{ traceparent: traceparentOf(1) }], tracer, write })
    await expect(run()).rejects.toThrow('no')
    expect(tracer.spans).toMatchObject([{ ended: true, failure: 'RangeError' }])
  })
})
