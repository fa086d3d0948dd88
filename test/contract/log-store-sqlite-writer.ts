import { createSqliteLogStore } from '../../shared/log-store/sqlite/sqlite-log-store.ts'
import { openStore } from '../../shared/log-store/sqlite/store.ts'
import { documentOf, eventRecord } from '../support/documents.ts'

/**
 * A process that writes batches to a log store and says after each how many were acknowledged, until it is killed. With batches of 0 it renews the
 * entries of an older version and says how many it has taken on; with batches of -1 it moves their contents and says how often it did.
 */
const [file = '', begin = '0', batchSize = '1'] = process.argv.slice(2)
const limits = { textTableArrivals: 100, movedOfATurn: 10, renewedOfATurn: 10 }

if (batchSize === '-1') {
  const { calls } = openStore({ file, limits })
  for (let turns = 1; calls.moveMore(); turns += 1) process.stdout.write(`${turns}\n`)
}

const store = await createSqliteLogStore({
  file,
  thread: 'same',
  logger: { warn: () => {} },
  limits,
})
const { signal } = new AbortController()

if (batchSize === '0') {
  let renewed = 0
  await store.maintain({
    bytesMax: null,
    documentOf: (record) => {
      renewed += 1
      process.stdout.write(`${renewed}\n`)
      return documentOf(record)
    },
  })
}

for (let number = Number(begin); ; ) {
  const documents = Array.from({ length: Number(batchSize) }, (_, index) => {
    const id = `00000000-0000-7000-8000-${String(number + index).padStart(12, '0')}`
    return documentOf(
      eventRecord({ id, payload: `common number${number + index}`, correlationKey: `flow-${number % 7}` }),
    )
  })
  await store.write(documents, signal)
  number += documents.length
  process.stdout.write(`${number}\n`)
}
