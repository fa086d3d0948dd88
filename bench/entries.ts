import { protobufOf } from '../test/support/otlp-protobuf.ts'

export const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
export const API_KEY = 'bench-key-0123456789abcdef0123456789abcdef'

/** The measured gateway's registry. */
export const REGISTRY = `teams: [{ id: bench, name: Bench, apiKeys: ["${API_KEY}"] }]
projects: [{ id: ${PROJECT}, team: bench, name: Bench }]
`

/** The number of flows that the entries with a correlationKey are spread over. */
const FLOWS = 5_000
export const BATCH_ENTRIES = 100

const WORDS =
  'order payment invoice customer shipment retry timeout accepted refused queue worker cache session token region catalog'.split(
    ' ',
  )

/** An application log of about 1 KB, with enough words for a realistic text index. */
export function entry(index: number, { keyed = true } = {}) {
  const words = Array.from({ length: 76 }, (_, place) => WORDS[(index * 7 + place * 13) % WORDS.length])
  return {
    categoryName: 'Acme.Checkout.Payments.PaymentProcessor',
    eventId: 1000 + (index % 50),
    eventName: 'PaymentProcessed',
    message: `Processed payment ${index} with ${words.join(' ')}`,
    level: index % 20 === 0 ? 'Error' : 'Information',
    scopeData: {
      RequestId: `0HN${index}:00000001`,
      ConnectionId: '0HN7GLLB1V2QK',
      tenant: 'acme-eu',
      attempt: index % 3,
    },
    ...(keyed && { correlationKey: `order-${index % FLOWS}` }),
    environment: 'Production',
    exception: index % 20 === 0 ? `System.TimeoutException: ${words.slice(0, 20).join(' ')}` : null,
  }
}

/** Request bodies with one entry each. */
export const singleBodies = (count: number, options: { readonly keyed?: boolean } = {}): readonly string[] =>
  Array.from({ length: count }, (_, index) => JSON.stringify({ uniqueIdentifier: PROJECT, ...entry(index, options) }))

/** Request bodies with `BATCH_ENTRIES` entries each. */
export const batchBodies = (count: number, options: { readonly keyed?: boolean } = {}): readonly string[] =>
  Array.from({ length: count }, (_, batch) => {
    const logEntries = Array.from({ length: BATCH_ENTRIES }, (_, index) =>
      entry(batch * BATCH_ENTRIES + index, options),
    )
    return JSON.stringify({ uniqueIdentifier: PROJECT, logEntries })
  })

/** OTLP export requests in Protobuf with `records` log records each, as an SDK sends them. */
export const otlpBodies = (count: number, records: number): readonly Uint8Array[] =>
  Array.from({ length: count }, (_, request) => {
    const logRecords = Array.from({ length: records }, (_, index) => otlpRecord(request * records + index))
    const scopeLogs = [{ scope: { name: 'Acme.Checkout.Payments' }, logRecords }]
    const attributes = attributesOf({ 'service.name': 'Bench', 'service.version': '4.1.0', 'host.name': 'web-3' })
    return protobufOf({ resourceLogs: [{ resource: { attributes }, scopeLogs }] })
  })

function otlpRecord(index: number): object {
  const { message, level, scopeData, eventName } = entry(index)
  return {
    timeUnixNano: String(1_750_000_000_000_000_000n + BigInt(index) * 1_000_000n),
    observedTimeUnixNano: String(1_750_000_000_000_000_000n + BigInt(index) * 1_000_000n),
    severityNumber: level === 'Error' ? 17 : 9,
    severityText: level,
    body: { stringValue: message },
    attributes: attributesOf({ ...scopeData, attempt: String(scopeData.attempt) }),
    eventName,
    // A trace per record: the Collector turns each trace into one message.
    traceId: `5b8efff798038103${index.toString(16).padStart(16, '0')}`,
    spanId: 'eee19b7ec3c1b174',
  }
}

const attributesOf = (values: Readonly<Record<string, string>>): readonly object[] =>
  Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }))
