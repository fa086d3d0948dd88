import { createSqliteLogStore } from '../../shared/log-store/sqlite/sqlite-log-store.ts'
import { documentOf, eventRecord } from '../support/documents.ts'

/**
 * A process that writes batches to a log store and says after each how many were acknowledged, until it is killed; with batches of 0 it renews the
 * entries of an older version and says how many it has taken on.
 */
const [file = '', begin = '0', batchSize = '1'] = process.argv.slice(2)
const store = await createSqliteLogStore({
  file,
  thread: 'same',
  logger: { warn: () => {} },
  limits: { textTableArrivals: 100, renewedOfATurn: 10 },
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
