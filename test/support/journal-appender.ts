import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSqliteJournal } from '../../shared/journal/sqlite/sqlite-journal.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { recordsOf } from './journal-fixture.ts'

// A process that appends batches to `<file> <topic>` until it is killed, and prints the number of each confirmed batch.
const [file, topic, run] = process.argv.slice(2) as [string, string, string]
const BATCH_RECORDS = 20
const AT_ONCE = 8

const journal = await createSqliteJournal({ file, thread: 'own', clock: systemClock })
let next = 0

const appendForever = async (): Promise<never> => {
  for (;;) {
    const batch = next++
    await journal.append({ topic, partition: 0, records: recordsOf(`${run}/${batch}/`, BATCH_RECORDS) })
    process.stdout.write(`${batch}\n`)
  }
}

for (let started = 0; started < AT_ONCE; started++) {
  void appendForever()
  // Batches begun in different turns are written in different transactions, so that one is being written whenever another is confirmed, and
  // a kill after a confirmation interrupts it.
  await nextTurn()
}
