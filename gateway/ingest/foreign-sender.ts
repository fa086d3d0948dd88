import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { type Checked, problemSaying, refuse } from '../../shared/contract/errors.ts'
import { parseGuid } from '../../shared/contract/guid.ts'
import { PROJECT_HEADER, presentedKey } from '../../shared/http/api-key.ts'
import { isInUse, type Project, type Registry, type Team } from '../../shared/registry/registry.ts'
import { type CheckDeps, refuseArchived, refuseUntilReady } from './checks.ts'
import { isMissing, quoted } from './fields.ts'
import { decoded } from './request.ts'

/** Maximum Projects that a refusal lists. */
const LISTED_MAX = 5

/** Returns the Team of a request's key, for endpoints where the key alone identifies the sender. */
export function checkSender(
  headers: IncomingHttpHeaders,
  { registry, registryReady }: Pick<CheckDeps, 'registry' | 'registryReady'>,
): Checked<Team> {
  const apiKey = presentedKey(headers)
  if (isMissing(apiKey)) return refuse('missing_api_key')
  if (!registryReady()) return refuseUntilReady()
  const team = registry.teamOfKey(apiKey)
  if (team !== undefined) return { value: team }
  const why =
    registry.formerTeamOfKey(apiKey) === undefined
      ? 'The key is not a live key of a Team, or it is one of several Teams.'
      : 'The key was revoked.'
  return { problem: problemSaying('invalid_api_key', `${why} Use a live key of the Team that logs.`) }
}

/** Finds the Projects of one Team. `remedy`, a sentence in its refusals, tells senders how to name a Project. */
export interface ProjectFinder {
  /** The Project with this id, a GUID in any form; `name` is the sender's for the id. */
  byId(id: string, name: string): Checked<Project>
  /** The Project with this name, in any case, or else the one for unknown services: a service needs no Project of its own. */
  byName(name: string): Checked<Project>
  /** The Project that a request names in its headers, by id or name; undefined if it names none. */
  byHeader(headers: IncomingHttpHeaders): Checked<Project> | undefined
  /** The Project for unknown services, for logs that name none. */
  unnamed(): Checked<Project>
}

/** The remedy of requests that name their Project themselves, which wins over a name in the body. */
const IN_REQUEST =
  'Name the Project by its id or its name: in the header X-Project-Id, or in the address as ?project=<id or name> or before the path as /projects/<id or name>.'

export function createProjectFinder(team: Team, registry: Registry, remedy = IN_REQUEST): ProjectFinder {
  const ofTeam = (): readonly Project[] => registry.projectsOf(team.id).filter(isInUse)

  /** The sentences of the code name a field that these senders do not have. */
  const refuseFor = (
    code: 'project_not_found' | 'missing_project_id' | 'invalid_project_id',
    what: string,
    ...more: readonly string[]
  ) => ({ problem: problemSaying(code, [what, remedy, ...more, listed(ofTeam())].join(' ')) })

  function oneOf(projects: readonly Project[], what: string): Checked<Project> {
    const [first, second] = projects.filter(isInUse)
    if (first !== undefined && second === undefined) return { value: first }
    if (second !== undefined) return refuseFor('project_not_found', `More than one Project is ${what}.`)
    if (projects.length > 0) return refuseArchived('project_not_found', 'This Project', true)
    return refuseFor('project_not_found', `No Project of the Team is ${what}.`)
  }

  /** The Project that the Team has set for unknown services, or its only one. */
  function projectForUnknown(): Project | undefined {
    if (team.defaultProject !== undefined) return registry.project(team.defaultProject)
    const [first, ...others] = ofTeam()
    return others.length === 0 ? first : undefined
  }

  function byId(text: string, name: string): Checked<Project> {
    const id = parseGuid(text)
    if (id === undefined) return refuseFor('invalid_project_id', `${name} ${quoted(text)} is not a GUID.`)
    const project = registry.project(id)
    return oneOf(project?.team === team.id ? [project] : [], id)
  }

  function byName(name: string): Checked<Project> {
    const named = registry.projectsNamed(team.id, name)
    return named.length > 0
      ? oneOf(named, `named ${quoted(name)}`)
      : forUnknown('project_not_found', `No Project of the Team is named ${quoted(name)}.`)
  }

  function forUnknown(code: 'project_not_found' | 'missing_project_id', what: string): Checked<Project> {
    const project = projectForUnknown()
    return project === undefined ? refuseFor(code, what, WAY_OUT) : { value: project }
  }

  return {
    byId,
    byName,
    byHeader: ({ [PROJECT_HEADER]: named }) => {
      if (typeof named !== 'string' || named === '') return undefined
      if (parseGuid(named) !== undefined) return byId(named, 'X-Project-Id')
      const readings = readingsOf(named)
      return byName(readings.find((name) => registry.projectsNamed(team.id, name).length > 0) ?? readings[0])
    },
    unnamed: () => forUnknown('missing_project_id', 'Nothing says which Project these logs are for.'),
  }
}

/**
 * The names that a header may stand for, the likeliest first. Node reads the bytes of headers as Latin-1, but most senders write UTF-8, and
 * some percent-encode what is not ASCII.
 */
function readingsOf(named: string): readonly [string, ...string[]] {
  const bytes = Buffer.from(named, 'latin1')
  const text = /[^\0-\xff]/.test(named) || !isUtf8(bytes) ? named : bytes.toString()
  return [text, decoded(text), named]
}

const WAY_OUT = "Or name a Project for unknown services in the Team's settings (defaultProject)."

function listed(projects: readonly Project[]): string {
  if (projects.length === 0) return 'The Team has no Project in use.'
  const named = projects.slice(0, LISTED_MAX).map(({ id, name }) => `${quoted(name)} (${id})`)
  const rest = projects.length - named.length
  return `Projects of the Team: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`
}
