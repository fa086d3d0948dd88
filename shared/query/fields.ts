import type { KeywordField, LeafField, NumberField, TextField, TimeField } from './ast.ts'

/** A field of the grammar, as parse.ts reads it and the page's syntax sheet shows it. */
export type Field = {
  /** Other names that are read as this one. Names are case-insensitive. */
  readonly aliases: readonly string[]
  /** One line for the syntax sheet. */
  readonly help: string
  readonly example: string
} & (
  | { readonly kind: 'text'; readonly name: TextField }
  | { readonly kind: 'keyword'; readonly name: Exclude<KeywordField, 'id' | 'project'> }
  | { readonly kind: 'guid'; readonly name: 'id' | 'project' }
  | { readonly kind: 'number'; readonly name: NumberField }
  | { readonly kind: 'time'; readonly name: TimeField }
  | { readonly kind: 'level'; readonly name: 'level' }
  /** An id in hexadecimal digits, in any case; `path` is its place in the scope data. */
  | { readonly kind: 'hex'; readonly name: 'trace' | 'span'; readonly path: string }
)

export const FIELDS: readonly Field[] = [
  {
    name: 'level',
    kind: 'level',
    aliases: ['severity'],
    help: 'Severity: trace, debug, information, warning, error, critical.',
    example: 'level:>=warning',
  },
  {
    name: 'message',
    kind: 'text',
    aliases: ['msg'],
    help: 'Words of the message of an application log.',
    example: 'message:"connection refused"',
  },
  {
    name: 'exception',
    kind: 'text',
    aliases: ['ex'],
    help: 'Words of the exception, its stack trace included.',
    example: 'exception:timeout*',
  },
  {
    name: 'payload',
    kind: 'text',
    aliases: [],
    help: 'Words of the payload of an event log.',
    example: 'payload:refund',
  },
  {
    name: 'event',
    kind: 'keyword',
    aliases: [],
    help: 'Identifier of the Event; finds entries of its Steps as well.',
    example: 'event:order-placed',
  },
  {
    name: 'step',
    kind: 'keyword',
    aliases: [],
    help: 'Identifier of the Step.',
    example: 'step:order-placed.validate',
  },
  {
    name: 'project',
    kind: 'guid',
    aliases: ['projectId'],
    help: 'Id of the Project.',
    example: 'project:3f2504e0-4f89-11d3-9a0c-0305e82c3301',
  },
  {
    name: 'category',
    kind: 'keyword',
    aliases: ['categoryName', 'logger'],
    help: 'Category, usually a class name, and all below it.',
    example: 'category:Acme.Billing',
  },
  {
    name: 'correlationKey',
    kind: 'keyword',
    aliases: ['correlation', 'correlationId', 'flow'],
    help: 'Key that the entries of a flow share.',
    example: 'correlationKey:order-4711',
  },
  {
    name: 'trace',
    kind: 'hex',
    path: 'traceId',
    aliases: ['traceId'],
    help: 'Id of the trace that the application log belongs to.',
    example: 'trace:5b8efff798038103d269b633813fc60c',
  },
  {
    name: 'span',
    kind: 'hex',
    path: 'spanId',
    aliases: ['spanId'],
    help: 'Id of the span that the application log belongs to.',
    example: 'span:eee19b7ec3c1b174',
  },
  {
    name: 'environment',
    kind: 'keyword',
    aliases: ['env'],
    help: 'Environment that the entry came from.',
    example: 'environment:Production',
  },
  {
    name: 'eventId',
    kind: 'number',
    aliases: [],
    help: "Number that the logging framework gave the application log's event.",
    example: 'eventId:>=1000',
  },
  {
    name: 'eventName',
    kind: 'keyword',
    aliases: [],
    help: "Name that the logging framework gave the application log's event.",
    example: 'eventName:RequestFinished',
  },
  {
    name: 'timestamp',
    kind: 'time',
    aliases: ['time'],
    help: 'When the entry happened, in UTC where no offset is given.',
    example: 'timestamp:>=2026-01-31T09:30',
  },
  {
    name: 'receivedAt',
    kind: 'time',
    aliases: ['received'],
    help: 'When the entry was accepted.',
    example: 'receivedAt:2026-01-31',
  },
  {
    name: 'id',
    kind: 'guid',
    aliases: [],
    help: 'Id of the entry, as it was answered to its sender.',
    example: 'id:0198d5b2-7c1e-7000-8a3b-2f4c6d8e0a1b',
  },
]

/** A family of fields with names given by the senders: `payload.order.id`, `scope.RequestId`. Paths are case-sensitive. */
export interface LeafFamily {
  readonly name: LeafField
  readonly aliases: readonly string[]
  readonly help: string
  readonly example: string
}

export const LEAF_FAMILIES: readonly LeafFamily[] = [
  {
    name: 'payload',
    aliases: [],
    help: 'A value inside a payload that is JSON; dots lead inwards.',
    example: 'payload.order.id:4711',
  },
  {
    name: 'scope',
    aliases: ['scopeData'],
    help: 'A value inside the scope data of an application log.',
    example: 'scope.RequestId:0HN*',
  },
]

export type FieldReference =
  | { readonly kind: 'field'; readonly field: Field }
  | { readonly kind: 'leaf'; readonly field: LeafField; readonly path: string }

const byName = new Map(FIELDS.flatMap((field) => namesOf(field).map((name) => [name, field] as const)))
const familyByName = new Map(LEAF_FAMILIES.flatMap((family) => namesOf(family).map((name) => [name, family] as const)))

function namesOf({ name, aliases }: { readonly name: string; readonly aliases: readonly string[] }): readonly string[] {
  return [name, ...aliases].map((text) => text.toLowerCase())
}

/** The field for a name before a colon; undefined if it is unknown. */
export function findField(name: string): FieldReference | undefined {
  const field = byName.get(name.toLowerCase())
  if (field !== undefined) return { kind: 'field', field }
  const dot = name.indexOf('.')
  const family = dot === -1 ? undefined : familyByName.get(name.slice(0, dot).toLowerCase())
  const path = name.slice(dot + 1)
  return family === undefined || path === '' ? undefined : { kind: 'leaf', field: family.name, path }
}

/** The field names for a sentence: the names that may be written before a colon. */
export const FIELD_NAMES: string = [
  ...FIELDS.map(({ name }) => name),
  ...LEAF_FAMILIES.map(({ name }) => `${name}.<key>`),
].join(', ')
