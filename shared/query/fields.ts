import type { KeywordField, LeafField, NumberField, TextField, TimeField } from './ast.ts'

/** How the values of a field are read; names are those of the grammar. */
type Kind =
  | { readonly kind: 'text'; readonly name: TextField }
  | { readonly kind: 'keyword'; readonly name: Exclude<KeywordField, 'id' | 'project'> }
  | { readonly kind: 'guid'; readonly name: 'id' | 'project' }
  | { readonly kind: 'number'; readonly name: NumberField }
  | { readonly kind: 'time'; readonly name: TimeField }
  | { readonly kind: 'level'; readonly name: 'level' }
  /** An id in hexadecimal digits, in any case; `path` is its place in the scope data. */
  | { readonly kind: 'hex'; readonly name: 'trace' | 'span'; readonly path: string }

/** The other names of a field, and its line in the syntax sheet of the page. */
interface FieldDescription {
  /** Read as the field's name; names are case-insensitive. */
  readonly aliases: readonly string[]
  readonly help: string
  readonly example: string
}

/** A field of the grammar, as parse.ts reads it. */
export type Field = Kind & FieldDescription

/** A field's name and its aliases, by the kind of the field. */
type Names<Of extends Kind['kind']> = readonly [name: Extract<Kind, { kind: Of }>['name'], ...aliases: string[]]
const text = (...[name, ...aliases]: Names<'text'>) => ({ kind: 'text', name, aliases }) as const
const keyword = (...[name, ...aliases]: Names<'keyword'>) => ({ kind: 'keyword', name, aliases }) as const
const guid = (...[name, ...aliases]: Names<'guid'>) => ({ kind: 'guid', name, aliases }) as const
const time = (...[name, ...aliases]: Names<'time'>) => ({ kind: 'time', name, aliases }) as const

const field = (of: Kind & Pick<FieldDescription, 'aliases'>, help: string, example: string): Field => ({
  ...of,
  help,
  example,
})

export const FIELDS: readonly Field[] = [
  field(
    { kind: 'level', name: 'level', aliases: ['severity'] },
    'Severity: trace, debug, information, warning, error, critical.',
    'level:>=warning',
  ),
  field(text('message', 'msg'), 'Words of the message of an application log.', 'message:"connection refused"'),
  field(text('exception', 'ex'), 'Words of the exception, its stack trace included.', 'exception:timeout*'),
  field(text('payload'), 'Words of the payload of an event log.', 'payload:refund'),
  field(keyword('event'), 'Identifier of the Event; finds entries of its Steps as well.', 'event:order-placed'),
  field(keyword('step'), 'Identifier of the Step.', 'step:order-placed.validate'),
  field(guid('project', 'projectId'), 'Id of the Project.', 'project:3f2504e0-4f89-11d3-9a0c-0305e82c3301'),
  field(
    keyword('category', 'categoryName', 'logger'),
    'Category, usually a class name, and all below it.',
    'category:Acme.Billing',
  ),
  field(
    keyword('correlationKey', 'correlation', 'correlationId', 'flow'),
    'Key that the entries of a flow share.',
    'correlationKey:order-4711',
  ),
  field(
    { kind: 'hex', name: 'trace', path: 'traceId', aliases: ['traceId'] },
    'Id of the trace that the application log belongs to.',
    'trace:5b8efff798038103d269b633813fc60c',
  ),
  field(
    { kind: 'hex', name: 'span', path: 'spanId', aliases: ['spanId'] },
    'Id of the span that the application log belongs to.',
    'span:eee19b7ec3c1b174',
  ),
  field(keyword('environment', 'env'), 'Environment that the entry came from.', 'environment:Production'),
  field(
    { kind: 'number', name: 'eventId', aliases: [] },
    "Number that the logging framework gave the application log's event.",
    'eventId:>=1000',
  ),
  field(
    keyword('eventName'),
    "Name that the logging framework gave the application log's event.",
    'eventName:RequestFinished',
  ),
  field(
    time('timestamp', 'time'),
    'When the entry happened, in UTC where no offset is given.',
    'timestamp:>=2026-01-31T09:30',
  ),
  field(time('receivedAt', 'received'), 'When the entry was accepted.', 'receivedAt:2026-01-31'),
  field(guid('id'), 'Id of the entry, as it was answered to its sender.', 'id:0198d5b2-7c1e-7000-8a3b-2f4c6d8e0a1b'),
]

/** A family of fields with names given by the senders: `payload.order.id`, `scope.RequestId`. Paths are case-sensitive. */
export interface LeafFamily extends FieldDescription {
  readonly name: LeafField
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
