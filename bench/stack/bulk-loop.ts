/**
 * The floor of the consumers: the documents of a topic, prepared in advance, are sent by `_bulk` alone, with a fixed number of requests in
 * flight. No reading, no outcomes, no commits. Serves the number of documents written on the URL that it prints.
 */
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeApplicationLog } from '../../consumers/decode.ts'
import { projector } from '../../consumers/projection.ts'
import { applicationLogDocument } from '../../consumers/projections/entries.ts'
import { createKafkaJournal } from '../../shared/journal/kafka/kafka-journal.ts'
import { entryBody } from '../../shared/log-store/elasticsearch/entry-body.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { createLogger } from '../../shared/runtime/logger.ts'

const USAGE = 'bulk-loop.ts BROKER TOPIC ELASTICSEARCH INDEX IN_FLIGHT DOCUMENTS'
const [broker = '', topic = '', url = '', index = '', inFlight = '', documents] = process.argv.slice(2)
if (documents === undefined) throw new Error(`usage: ${USAGE}`)

const DOCUMENTS_PER_REQUEST = 1_000

async function prepare(from: string): Promise<readonly Buffer[]> {
  const connection = { brokers: [from], clientId: 'bulk-loop', ssl: null, sasl: null }
  const journal = createKafkaJournal({ connection, clock: systemClock, logger: createLogger('warn', 'bulk-loop') })
  const bodies: Buffer[] = []
  let lines: string[] = []
  const close = (): void => {
    if (lines.length > 0) bodies.push(Buffer.from(lines.join('')))
    lines = []
  }
  const project = projector(decodeApplicationLog, applicationLogDocument)
  for await (const record of journal.scan(topic)) {
    const projected = project(record)
    if (projected.outcome !== 'ok') throw new Error('a record has no document')
    const { item } = projected
    lines.push(`{"create":{"_index":"${index}","_id":"${item.id}"}}\n${entryBody(item, bodies.length).join('')}\n`)
    if (lines.length === DOCUMENTS_PER_REQUEST) close()
    if (bodies.length * DOCUMENTS_PER_REQUEST + lines.length >= Number(documents)) break
  }
  close()
  await journal.close()
  return bodies
}

const agent = new Agent({ keepAlive: true, maxSockets: Number(inFlight) })

function bulk(body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/x-ndjson', 'content-length': body.length }
    const sent = request(`${url}/_bulk?filter_path=errors`, { method: 'POST', agent, headers }, (response) => {
      let answer = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        answer += text
      })
      response.on('end', () => {
        if (answer === '{"errors":false}') resolve()
        else reject(new Error(`a bulk request was answered ${response.statusCode} ${answer.slice(0, 200)}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const bodies = await prepare(broker)
let written = 0
const server = createServer((_request, response) => response.end(`bulk_documents_total ${written}\n`))
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
  const queue = bodies.values()
  const lane = async (): Promise<void> => {
    for (const body of queue) {
      await bulk(body)
      written += DOCUMENTS_PER_REQUEST
    }
  }
  for (let lanes = 0; lanes < Number(inFlight); lanes++) void lane()
})
process.on('SIGTERM', () => process.exit(0))
