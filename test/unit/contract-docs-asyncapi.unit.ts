import { describe, expect, test } from 'vitest'
import { replayMark, summaryOf } from '../../consumers/dead-letter-replay.ts'
import { decodeApplicationLog, decodeEventLog } from '../../consumers/decode.ts'
import { groupName, PROJECTIONS } from '../../consumers/projection.ts'
import { KEYWORD_BYTES } from '../../shared/contract/keyword.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import { TOPICS, topicName } from '../../shared/contract/topics.ts'
import { decodeRecord } from '../../shared/registry/records.ts'
import { SETTINGS } from '../../shared/runtime/config-schema.ts'
import { readRecord, recordHeaders } from '../support/consumers-records.ts'
import {
  asyncapi,
  type Json,
  pointed,
  problemsOf,
  publishedSchemas,
  resolved,
  schemaCompiler,
} from '../support/contract-docs.ts'

interface Reference {
  readonly $ref: string
}
interface Schema {
  readonly schemaFormat?: string
  readonly schema?: Reference
}
interface Message {
  readonly name: string
  readonly headers?: Schema & Json
  readonly payload: Schema & Json
  readonly bindings: { readonly kafka: { readonly key: Json & { readonly pattern?: string } } }
  readonly examples?: readonly {
    readonly name: string
    readonly headers: Record<string, string>
    readonly payload: Json
  }[]
}
interface Channel {
  readonly address: string
  readonly messages: Readonly<Record<string, Reference>>
  readonly bindings: {
    readonly kafka: {
      readonly topic: string
      readonly partitions: number
      readonly replicas: number
      readonly topicConfiguration: Readonly<Record<string, unknown>>
    }
  }
}
interface Operation {
  readonly action: 'send' | 'receive'
  readonly channel: Reference
  readonly messages?: readonly Reference[]
  readonly bindings?: { readonly kafka: { readonly groupId: { readonly enum: readonly string[] } } }
}

const channels = asyncapi['channels'] as Readonly<Record<string, Channel>>
const operations = Object.values(asyncapi['operations'] as Readonly<Record<string, Operation>>)
const messages = pointed(asyncapi, '/components/messages') as Readonly<Record<string, Message>>
const compiled = schemaCompiler(publishedSchemas)

/** The schema object to compile, whatever form the document gives it in. */
const schemaOf = ({ schemaFormat, schema, ...inline }: Schema & Json): string | object => {
  if (schema === undefined) return inline
  expect(schemaFormat).toBe('application/schema+json;version=draft-07')
  const [file = '', place] = schema.$ref.replace('./schemas/', '').split('#')
  const id = String(publishedSchemas[file]?.['$id'])
  return place === undefined ? id : `${id}#${place}`
}

function* referencesIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, child] of Object.entries(value)) {
    if (name === '$ref') yield String(child)
    else yield* referencesIn(child)
  }
}

describe('the AsyncAPI document', () => {
  test('refers to nothing that is not there, and to every published schema', () => {
    const references = [...referencesIn(asyncapi)]
    expect(references.length).toBeGreaterThan(30)
    for (const reference of references) expect(resolved(reference)).toBeDefined()
    const files = new Set(references.filter((each) => each.startsWith('./')).map((each) => each.split(/[/#]/)[2]))
    expect(files).toEqual(new Set(Object.keys(publishedSchemas)))
  })

  test('has a channel for each topic but the internal ones, as the code makes it', () => {
    const found = Object.values(channels).map(({ address, bindings: { kafka } }) => ({
      address,
      topic: kafka.topic,
      partitions: kafka.partitions,
      replicas: kafka.replicas,
      cleanup: kafka.topicConfiguration['cleanup.policy'],
      retentionMs: kafka.topicConfiguration['retention.ms'] ?? null,
    }))
    const subscribable = Object.values(TOPICS).filter(({ isInternal }) => !isInternal)
    const made = subscribable.map(({ role, partitions, cleanup, retentionMs }) => ({
      address: topicName('sluice', role),
      topic: topicName('sluice', role),
      partitions,
      replicas: 3,
      cleanup: [cleanup],
      retentionMs,
    }))
    expect(found).toEqual(made)
  })

  test('gives topics that take the largest entry that is accepted by default, and it as a dead letter', () => {
    const key = 'k'.repeat(KEYWORD_BYTES.correlationKey)
    const headers = recordHeaders({
      kind: 'event',
      id: '0'.repeat(36),
      subject: 's'.repeat(KEYWORD_BYTES.identifier),
      time: '0'.repeat(30),
      key,
      originalKey: key,
      traceparent: '0'.repeat(55),
    })
    const deadLetterHeadersBytes = 4_096
    const bytes =
      SETTINGS.MAX_ENTRY_BYTES.default + key.length + JSON.stringify(headers).length + deadLetterHeadersBytes
    for (const { bindings } of Object.values(channels)) {
      expect(bindings.kafka.topicConfiguration['max.message.bytes']).toBeGreaterThan(bytes)
    }
  })

  test("names the group of each view on each of the view's topics", () => {
    const found = operations.flatMap(({ channel, bindings }) =>
      (bindings?.kafka.groupId.enum ?? []).map(
        (group) => `${group} reads ${(resolved(channel.$ref) as Channel).address}`,
      ),
    )
    const made = Object.values(PROJECTIONS).flatMap(({ name, sources }) =>
      sources.map(({ role }) => `${groupName('sluice', name)} reads ${topicName('sluice', role)}`),
    )
    expect(found).toEqual(made)
  })

  test('lets an operation use messages of its channel only', () => {
    for (const { channel, messages: used = [] } of operations) {
      for (const { $ref } of used) expect($ref.startsWith(`${channel.$ref}/messages/`)).toBe(true)
    }
  })

  test('shows every message that is not just null by an example', () => {
    const bare = Object.values(messages).filter(({ examples }) => examples === undefined)
    expect(bare.map(({ name }) => name)).toEqual(['RegistryDeletion'])
  })
})

const examples = Object.entries(messages).flatMap(([message, { headers, payload, bindings, examples: shown = [] }]) =>
  shown.map((example) => ({ message, headers, payload, key: bindings.kafka.key, example, name: example.name })),
)

describe('an example', () => {
  test.each(examples)('$message/$name fits its schemas', ({ headers = {}, payload, example }) => {
    expect(problemsOf(compiled(schemaOf(headers)), example.headers)).toEqual([])
    expect(problemsOf(compiled(schemaOf(payload)), example.payload)).toEqual([])
  })

  const entries = examples.filter(({ message }) => message === 'eventLog' || message === 'applicationLog')
  test.each(entries)('$message/$name has the headers that the gateway gives its value', ({ example }) => {
    const entry = example.payload as unknown as EntryRecord
    const hot = example.headers['x-original-key'] !== undefined
    const made = recordHeaders({
      kind: entry.kind,
      id: entry.id,
      subject: entry.kind === 'event' ? (entry.step ?? entry.event ?? '') : entry.project,
      time: entry.timestamp,
      key: hot ? null : entry.correlationKey,
      originalKey: hot ? entry.correlationKey : null,
      traceparent: example.headers['traceparent'],
    })
    expect(example.headers).toEqual(made)
  })

  test.each(entries)('$message/$name is read by the views', ({ message, example }) => {
    const decode = message === 'eventLog' ? decodeEventLog : decodeApplicationLog
    expect(decode(readRecord(JSON.stringify(example.payload)))).toMatchObject({ outcome: 'decoded' })
  })

  test('of a dead letter and of a mark are told apart', () => {
    const [letter] = messages['deadLetter']?.examples ?? []
    const [mark] = messages['replayMark']?.examples ?? []
    expect(summaryOf(readRecord('{}', { headers: letter?.headers ?? {} }))).toMatchObject({ offset: 1042, attempt: 1 })
    expect(replayMark(readRecord('{}', { headers: mark?.headers ?? {} }))).toBe(1043)
  })
})

describe('the message key of a registry record', () => {
  const guid = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
  const sha = 'ab'.repeat(32)
  const ids = [
    'payments',
    'a/b',
    '',
    'größe',
    'two\nlines',
    guid,
    guid.toUpperCase(),
    `payments/${sha}`,
    `/${sha}`,
    `a/b/${sha}`,
    `payments/${guid}`,
    `/${guid}`,
    `a/b/${guid}`,
  ]
  const kinds = ['Team', 'Event', 'Step', 'Project', 'Key', 'Search'] as const

  test.each(kinds)('of a %s is what the registry reads', (kind) => {
    const pattern = new RegExp(messages[`registry${kind}`]?.bindings.kafka.key.pattern ?? '', 'u')
    const prefix = kind.toLowerCase()
    for (const key of ids.map((id) => `${prefix}/${id}`)) {
      const { unreadable } = decodeRecord({ key: Buffer.from(key), value: null })
      expect({ key, fits: pattern.test(key) }).toEqual({ key, fits: unreadable === undefined })
    }
  })
})
