import { expect, test } from 'vitest'
import type { Journal } from '../../shared/journal/journal.ts'
import { eventually } from '../support/eventually.ts'
import * as fc from '../support/fast-check.ts'
import { createTopic, positionAfter, recordsOf, scanAll } from '../support/journal-fixture.ts'
import type { JournalBench } from './journal-suite.ts'

const PARTITIONS = 2

type Step =
  | { readonly kind: 'append'; readonly partition: number; readonly count: number }
  /** Reads to the end and commits a part of what was read, in hundredths. */
  | { readonly kind: 'read'; readonly commit: number; readonly recordsMax: number }
  | { readonly kind: 'reopen' }

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('append'), partition: fc.nat(PARTITIONS - 1), count: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ kind: fc.constant('read'), commit: fc.nat(100), recordsMax: fc.integer({ min: 1, max: 15 }) }),
  fc.constant({ kind: 'reopen' }),
) as fc.Arbitrary<Step>

/** The records that a partition should hold, and the position that the group should have. */
interface PartitionModel {
  readonly values: string[]
  committed: number | null
}

export function historyContract({ open, name, patienceMs, historiesMax }: JournalBench): void {
  /** Reads as the group until the end, and checks that it gets exactly what comes after the committed positions. */
  const readToEnd = async (
    journal: Journal,
    topic: string,
    group: string,
    model: readonly PartitionModel[],
    { commit, recordsMax }: Extract<Step, { kind: 'read' }>,
  ) => {
    const targets = model.map(({ values, committed }) => {
      const start = committed ?? 0
      return start + Math.floor(((values.length - start) * commit) / 100)
    })
    const expected = model.map(({ values, committed }) =>
      values.map((value, offset) => `${offset}:${value}`).slice(committed ?? 0),
    )
    const read = model.map((): string[] => [])
    const subscription = await journal.subscribe({ group, topics: [topic], recordsMax }, async (batch) => {
      const target = Math.min(targets[batch.partition]!, positionAfter(batch))
      if (target > batch.records[0]!.offset) {
        await batch.commit(target)
        model[batch.partition]!.committed = target
      }
      read[batch.partition]!.push(...batch.records.map((record) => `${record.offset}:${record.value}`))
    })
    await eventually(() => read.every((values, partition) => values.length >= expected[partition]!.length), patienceMs)
    await subscription.close()
    await subscription.done
    expect(read).toEqual(expected)
  }

  test(
    'whatever is appended, read, committed and reopened: every record is there once, and groups go on where they stood',
    async () => {
      const history = fc.array(stepArbitrary, { minLength: 1, maxLength: 25 })
      await fc.assert(
        fc.asyncProperty(history, async (steps) => {
          let journal = await open()
          const [topic, group] = [await createTopic(journal, name('history'), PARTITIONS), name('group')]
          const model = Array.from({ length: PARTITIONS }, (): PartitionModel => ({ values: [], committed: null }))
          for (const [index, step] of steps.entries()) {
            switch (step.kind) {
              case 'append': {
                const records = recordsOf(`${index}-`, step.count)
                await journal.append({ topic, partition: step.partition, records })
                model[step.partition]?.values.push(...records.map(({ value }) => String(value)))
                break
              }
              case 'read':
                await readToEnd(journal, topic, group, model, step)
                break
              case 'reopen':
                await journal.close()
                journal = await open()
            }
          }
          const positions = await journal.positions(topic, group)
          expect(positions.map(({ endPosition, committed }) => ({ endPosition, committed }))).toEqual(
            model.map(({ values, committed }) => ({ endPosition: values.length, committed })),
          )
          const found = (await scanAll(journal, topic)).map(
            ({ partition, offset, value }) => `${partition}/${offset}/${value}`,
          )
          expect(found).toEqual(
            model.flatMap(({ values }, partition) => values.map((value, offset) => `${partition}/${offset}/${value}`)),
          )
          await journal.close()
        }),
        { numRuns: historiesMax },
      )
    },
    patienceMs,
  )
}
