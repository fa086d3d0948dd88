import { type Connection, ElasticsearchError } from './connection.ts'
import { askVisible } from './hidden-indices.ts'
import type { IndexNames } from './index-names.ts'
import { ENTRY_MAPPINGS, FLOW_MAPPINGS, type Template } from './mappings.ts'
import { LENIENT } from './searcher.ts'

const MAPPED_INDICES_MAX_SHOWN = 10
/** Elasticsearch has these answers in memory, and an operator waits for them. */
const ANSWER_MS = 10_000

/** The differences between the cluster's templates and indices and those that this release needs, in sentences. */
export async function findDifferences(
  connection: Connection,
  names: IndexNames,
  templates: readonly Template[],
): Promise<string[]> {
  const [ofTemplates, ofEntries, ofFlows] = await Promise.all([
    Promise.all(templates.map((template) => templateDifferences(connection, template))),
    mappingDifferences(connection, names.all(), ENTRY_MAPPINGS),
    mappingDifferences(connection, names.flows, FLOW_MAPPINGS),
  ])
  return [...ofTemplates.flat(), ...ofEntries, ...ofFlows]
}

/** The templates that the cluster does not have, in sentences. */
export async function findMissingTemplates(connection: Connection, templates: readonly Template[]): Promise<string[]> {
  const found = await Promise.all(templates.map(({ kind, name }) => readTemplate(connection, kind, name)))
  return templates.filter((_, index) => found[index] === undefined).map(missing)
}

const missing = ({ kind, name }: Template): string => `${kind} template ${name} is missing`

async function templateDifferences(connection: Connection, template: Template): Promise<string[]> {
  const { kind, name, body } = template
  const found = await readTemplate(connection, kind, name)
  if (found === undefined) return [missing(template)]
  return differencesOf(`${kind} template ${name}`, body, found)
}

interface TemplateAnswer {
  readonly component_templates?: readonly { component_template: object }[]
  readonly index_templates?: readonly { index_template: object }[]
}

async function readTemplate(connection: Connection, kind: Template['kind'], name: string): Promise<object | undefined> {
  try {
    const path = `/_${kind}_template/${name}`
    const query = { flat_settings: true }
    const answer = await connection.send<TemplateAnswer>({ method: 'GET', path, query, timeoutMs: ANSWER_MS })
    return answer.component_templates?.[0]?.component_template ?? answer.index_templates?.[0]?.index_template
  } catch (error) {
    // A proxy that has no route answers 404 too, but without a type.
    if (error instanceof ElasticsearchError && error.status === 404 && error.body.type !== undefined) return undefined
    throw error
  }
}

/** Existing indices keep the mapping they were created with, so a correct template is not enough. */
async function mappingDifferences(connection: Connection, pattern: string, wanted: object): Promise<string[]> {
  // The mapping of a hidden index can neither be compared nor be changed.
  const { answer } = await askVisible<Record<string, { mappings: object }>>(connection, pattern, (indices) => ({
    method: 'GET',
    path: `/${indices}/_mapping`,
    query: LENIENT,
    timeoutMs: ANSWER_MS,
  }))
  return Object.entries(answer)
    .flatMap(([name, { mappings }]) => differencesOf(`mapping of index ${name}`, wanted, mappings))
    .slice(0, MAPPED_INDICES_MAX_SHOWN)
}

/** Additional settings do no harm: Elasticsearch adds dates, operators add fields. */
function differencesOf(what: string, wanted: object, found: object): string[] {
  const there = flatten(found)
  return [...flatten(wanted)]
    .filter(([path, value]) => there.get(path) !== value)
    .map(([path, value]) => `${what}: ${path} is ${there.get(path) ?? 'not set'}, needed is ${value}`)
}

/** Every leaf of a JSON value by path, so that two values can be compared regardless of order. */
function flatten(value: unknown, path = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null) return new Map([[path, String(value)]])
  const parts = Object.entries(value).map(([key, part]) => [...flatten(part, path === '' ? key : `${path}.${key}`)])
  return new Map(parts.flat())
}
