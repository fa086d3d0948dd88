/**
 * The floor of the gateway: the minimum work of a Node program that takes log entries over HTTP into Kafka. It reads the body, parses it,
 * serialises each entry, appends with acks=all and responds when its entries are confirmed. It uses the library's producer, with the
 * gateway's batch limits and number of sends in flight; no validation, no keys, no ids, no headers.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ProduceAcks, Producer } from '@platformatic/kafka'
import { partitionOf } from '../../shared/contract/partitioner.ts'

const [broker, topic, partitionCount] = process.argv.slice(2)
if (broker === undefined || topic === undefined || partitionCount === undefined) {
  throw new Error('usage: floor.ts BROKER TOPIC PARTITIONS')
}

const RECORDS_MAX = 500
const BYTES_MAX = 900_000
const EAGER_SENDS = 4
const SENDS_MAX = 64
const LINGER_MS = 5
const ANSWER = '{"success":true}'

interface Waiting {
  readonly value: Buffer
  readonly request: { missing: number; readonly response: ServerResponse }
}

interface Lane {
  readonly partition: number
  queue: Waiting[]
  since: number
  sending: boolean
}

const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
  clientId: 'floor',
  bootstrapBrokers: [broker],
  autocreateTopics: false,
})
const lanes: readonly Lane[] = Array.from({ length: Number(partitionCount) }, (_, partition) => ({
  partition,
  queue: [],
  since: 0,
  sending: false,
}))
let open = 0
let sends = 0
let inFlight = 0
let timer: NodeJS.Timeout | undefined

function cut(lane: Lane): readonly Waiting[] {
  let bytes = 0
  let end = 0
  for (const { value } of lane.queue) {
    bytes += value.length
    if (end === RECORDS_MAX || (bytes > BYTES_MAX && end > 0)) break
    end += 1
  }
  const batch = lane.queue.slice(0, end)
  lane.queue = lane.queue.slice(end)
  return batch
}

async function send(lane: Lane): Promise<void> {
  const batch = cut(lane)
  lane.sending = true
  inFlight += 1
  sends += 1
  if (lane.partition === open) open = (open + 1) % lanes.length
  await producer.send({
    acks: ProduceAcks.ALL,
    messages: batch.map(({ value }) => ({ topic: topic as string, partition: lane.partition, value })),
  })
  inFlight -= 1
  lane.sending = false
  for (const { request } of batch) {
    request.missing -= 1
    if (request.missing > 0) continue
    request.response.writeHead(200, { 'content-type': 'application/json', 'content-length': ANSWER.length })
    request.response.end(ANSWER)
  }
  sendWhatIsDue()
}

function sendWhatIsDue(): void {
  const now = performance.now()
  for (const lane of lanes) {
    if (lane.queue.length === 0 || lane.sending || inFlight >= SENDS_MAX) continue
    const due = inFlight < EAGER_SENDS || lane.queue.length >= RECORDS_MAX || now - lane.since >= LINGER_MS
    if (due) void send(lane)
  }
  if (timer !== undefined) return
  timer = setTimeout(() => {
    timer = undefined
    if (lanes.some(({ queue }) => queue.length > 0)) sendWhatIsDue()
  }, LINGER_MS)
}

interface Entry {
  readonly correlationKey?: string
}

function take(entries: readonly Entry[], response: ServerResponse): void {
  const request = { missing: entries.length, response }
  for (const entry of entries) {
    const partition = entry.correlationKey === undefined ? open : partitionOf(entry.correlationKey, lanes.length)
    const lane = lanes[partition] as Lane
    if (lane.queue.length === 0) lane.since = performance.now()
    lane.queue.push({ value: Buffer.from(JSON.stringify(entry)), request })
  }
  sendWhatIsDue()
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(`floor_sends_total ${sends}\n`)
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Entry & { readonly logEntries?: readonly Entry[] }
    take(body.logEntries ?? [body], response)
  })
})

await producer.metadata({ topics: [topic] })
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.on('SIGTERM', () => process.exit(0))
