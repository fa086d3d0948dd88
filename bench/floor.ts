/**
 * The floor: the minimum work of any program that stores log entries durably. It reads the body, parses it, serialises each entry and
 * appends everything that arrived meanwhile to a SQLite file in one transaction (one fsync). No validation, no keys, no index.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'

const file = process.argv[2]
if (file === undefined) throw new Error('usage: floor.ts FILE')

const database = new DatabaseSync(file)
database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE records (offset INTEGER PRIMARY KEY, appended_at INTEGER NOT NULL, value TEXT NOT NULL)`)
const insert = database.prepare('INSERT INTO records (appended_at, value) VALUES (?, ?)')

const BATCH_RECORDS_MAX = 500
const ANSWER = '{"success":true}'

const waiting: { values: string[]; response: ServerResponse }[] = []
let scheduled = false

function flush(): void {
  scheduled = false
  const batch: typeof waiting = []
  for (let records = 0; waiting.length > 0 && records < BATCH_RECORDS_MAX; ) {
    const next = waiting.shift()
    if (next === undefined) break
    records += next.values.length
    batch.push(next)
  }
  const now = Date.now()
  database.exec('BEGIN')
  for (const { values } of batch) for (const value of values) insert.run(now, value)
  database.exec('COMMIT')
  for (const { response } of batch) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': ANSWER.length })
    response.end(ANSWER)
  }
  if (waiting.length > 0) schedule()
}

function schedule(): void {
  if (scheduled) return
  scheduled = true
  setImmediate(flush)
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { logEntries?: unknown[] }
    waiting.push({ values: (body.logEntries ?? [body]).map((entry) => JSON.stringify(entry)), response })
    schedule()
  })
})

server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.on('SIGTERM', () => process.exit(0))
