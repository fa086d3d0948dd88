import type { Checked } from '../../shared/contract/errors.ts'
import { fitsDepth, hasLostDigits } from '../../shared/contract/exact-json.ts'
import type { Project } from '../../shared/registry/registry.ts'
import { exceeds, type Fields } from '../ingest/fields.ts'
import { firstName, LOGGER_NAMES, stringOf } from '../ingest/foreign-fields.ts'
import type { ProjectFinder } from '../ingest/foreign-sender.ts'
import { type PlacedRecord, partOf, ResourceOrScope } from './log-records.ts'

/** Resource attributes that are kept as scope data; `prefix.*` matches all names with that prefix. OTLP_RESOURCE_ATTRIBUTES adds others. */
export const RESOURCE_ATTRIBUTES: readonly string[] = [
  'service.namespace',
  'service.version',
  'service.instance.id',
  'host.name',
  'container.id',
  'container.name',
  'k8s.*',
  'process.pid',
  'process.executable.name',
]

/** Limits of the attributes that the records of a scope share, as each record stores a copy. Attributes beyond them are left out. */
const RESOURCE_LIMITS: Limits = { attributes: 64, bytes: 4_096 }
const SCOPE_LIMITS: Limits = { attributes: 16, bytes: 1_024 }

interface Limits {
  readonly attributes: number
  /** The size of names and values as JSON. */
  readonly bytes: number
}

/** Maximum levels of a kept attribute, of which its name and value are the first: it can be a list or a map of values. */
const ATTRIBUTE_LEVELS_MAX = 2

/** Whether an attribute with this name is kept. */
type Keeps = (name: string) => boolean

/** `names` may end in `.*`. */
export function createKeeps(names: readonly string[]): Keeps {
  const prefixes = names.filter((name) => name.endsWith('.*')).map((name) => name.slice(0, -1))
  const exact = new Set(names)
  return (name) => exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}

/** The values that the log records of a scope take from it and its resource. */
export interface Origin {
  /** The Project that they go to. */
  readonly project: Checked<Project>
  /** The attributes of a record that can have its logger's name: none if the scope has it. */
  readonly loggerNames: readonly string[]
  /** The category of records that name no logger. */
  readonly category: Placed
  readonly environment: Placed | undefined
  /** Scope data that all of them share. */
  readonly scopeData: Fields
}

/** A value, and the names of the members that lead to it from the scope or the resource. */
interface Placed {
  readonly value: string
  readonly place: readonly string[]
}

interface OriginsDeps {
  readonly projects: ProjectFinder
  /** The Project of all records, if the request names one. */
  readonly named: Project | undefined
  readonly keeps: Keeps
}

/** A resource or a scope, as it was sent or already read. */
type Sent = PlacedRecord['resource']

const read = (sent: Sent): ResourceOrScope => (sent instanceof ResourceOrScope ? sent : partOf(sent))

/** Reads each resource and each scope once, however many records they have. */
export function createOrigins(deps: OriginsDeps): (resource: Sent, scope: Sent) => Origin {
  const known = new Map<Sent, FromResource>()
  let last: { readonly resource: Sent; readonly scope: Sent; readonly origin: Origin } | undefined

  function knownOf(resource: Sent): FromResource {
    const found = known.get(resource) ?? fromResource(read(resource), deps)
    known.set(resource, found)
    return found
  }

  return (resource, scope) => {
    // Records of one scope are adjacent.
    if (last?.resource !== resource || last.scope !== scope)
      last = { resource, scope, origin: originOf(knownOf(resource), read(scope)) }
    return last.origin
  }
}

/** The part of an origin that is the resource's. */
interface FromResource extends Pick<Origin, 'project' | 'environment'> {
  readonly service: string | undefined
  readonly kept: Fields
}

const ENVIRONMENT_NAMES = ['deployment.environment.name', 'deployment.environment']

function fromResource({ attributes }: ResourceOrScope, { projects, named, keeps }: OriginsDeps): FromResource {
  const service = stringOf(attributes['service.name'])
  const id = stringOf(attributes['sluice.project.id'])
  const project = named === undefined ? projectOf(id, service, projects) : { value: named }
  const environmentName = firstName(attributes, ENVIRONMENT_NAMES, stringOf)
  const isProject = service?.toLowerCase() === project.value?.name.toLowerCase()
  return {
    project,
    service,
    environment:
      environmentName === undefined
        ? undefined
        : { value: String(attributes[environmentName]), place: ['resource', 'attributes', environmentName] },
    kept: keptOf(attributes, (name) => keeps(name) || (name === 'service.name' && !isProject), RESOURCE_LIMITS),
  }
}

function projectOf(id: string | undefined, service: string | undefined, projects: ProjectFinder): Checked<Project> {
  if (id !== undefined) return projects.byId(id, 'sluice.project.id')
  return service === undefined ? projects.unnamed() : projects.byName(service)
}

/** Scope names that identify a bridge to OpenTelemetry rather than a logger: those of OpenTelemetry for JavaScript and of pino. */
const BRIDGE_SCOPE = /^(?:unknown$|@opentelemetry\/)/

/** The attributes with a logger's name where the scope is a bridge: pino and bunyan have it in `name`, which elsewhere can be any name. */
export const BRIDGED_LOGGER_NAMES = [...LOGGER_NAMES, 'name']

function originOf({ project, service, environment, kept }: FromResource, scope: ResourceOrScope): Origin {
  const name = stringOf(scope.name)
  const version = stringOf(scope.version)
  const isBridge = name !== undefined && BRIDGE_SCOPE.test(name)
  const ofScope = {
    ...keptOf(scope.attributes, () => true, SCOPE_LIMITS),
    ...(isBridge && { 'otel.scope.name': name }),
    ...(version !== undefined && { 'otel.scope.version': version }),
  }
  const common = { project, environment, scopeData: { ...kept, ...ofScope } }
  if (name !== undefined && !isBridge)
    return { ...common, loggerNames: [], category: { value: name, place: ['scope', 'name'] } }
  const category = { value: service ?? project.value?.name ?? '', place: ['resource', 'attributes', 'service.name'] }
  return { ...common, loggerNames: isBridge ? BRIDGED_LOGGER_NAMES : LOGGER_NAMES, category }
}

/** Attributes as scope data; those for which there is no room are left out, as each record has a copy. */
function keptOf(attributes: Fields, keeps: Keeps, limits: Limits): Fields {
  const kept: [name: string, value: unknown][] = []
  let room = limits.bytes
  for (const attribute of Object.entries(attributes)) {
    const [name, value] = attribute
    if (kept.length === limits.attributes) break
    if (!keeps(name) || !fitsDepth(attribute, ATTRIBUTE_LEVELS_MAX)) continue
    if (value === null || value === '' || hasLostDigits(value) || exceeds(attribute, room)) continue
    const bytes = Buffer.byteLength(JSON.stringify(attribute))
    if (bytes > room) continue
    room -= bytes
    kept.push(attribute)
  }
  return Object.fromEntries(kept)
}
