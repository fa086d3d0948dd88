import { hasLostDigits } from '../../shared/contract/exact-json.ts'
import { type Checked, refuse } from '../../shared/errors.ts'
import type { Project } from '../../shared/registry/registry.ts'
import type { Admitted } from '../admit.ts'
import { createEntryCheck, type EntryCheckOptions } from '../application-entry.ts'
import type { BatchCheck } from '../application-log.ts'
import type { CheckDeps } from '../checks.ts'
import { type Fields, isObject, refuseNoObject } from '../fields.ts'
import type { Provenance } from '../provenance.ts'
import { fitsDepth } from '../schemas/keywords.ts'
import { checkSender, createProjectFinder, type ProjectFinder } from '../sender.ts'
import { listOf, plainValue } from './any-value.ts'
import { entryOf } from './entry.ts'
import { logRecordsOf, type PlacedRecord } from './log-records.ts'

export interface OtlpCheckOptions extends EntryCheckOptions {
  readonly recordsMax: number
}

/** Levels of JSON of a log record: its scope data may be 64 levels deep, each of which OTLP writes as four. */
const RECORD_LEVELS_MAX = 264

const REMEDY =
  "Set service.name to the Project's name (OTEL_SERVICE_NAME), or name it by its id: OTEL_RESOURCE_ATTRIBUTES=sluice.project.id=<id>."

/** Judges an ExportLogsServiceRequest: who sends, whether it can be read at all, then each log record by itself. */
export function createOtlpCheck(deps: CheckDeps, { recordsMax, ...options }: OtlpCheckOptions): BatchCheck {
  const checkEntry = createEntryCheck({ ...options, admit: deps.admit, validate: deps.validators.batchEntry })

  function checkRecord(
    { record, scope, source }: PlacedRecord & { readonly source: Source },
    exact: () => unknown,
    index: number,
    provenance: Provenance,
  ): Checked<Admitted> {
    const { project, ...common } = source
    if (project.problem !== undefined) return project
    if (!isObject(record)) return refuseNoObject()
    if (!fitsDepth(record, RECORD_LEVELS_MAX))
      return refuse('invalid_request', [{ path: '', message: 'must not be nested so deep' }])
    const own = typeof scope['name'] === 'string' && scope['name'] !== '' ? scope['name'] : undefined
    const origin = {
      categoryName: own ?? common.service ?? project.value.name,
      environment: common.environment,
    }
    const entry = entryOf(hasLostDigits(record) ? (exact() as Fields) : record, origin)
    return entry.problem === undefined ? checkEntry(entry.value, index, project.value, provenance) : entry
  }

  return (received) => {
    const sender = checkSender(received.headers, deps)
    if (sender.problem !== undefined) return sender
    const records = logRecordsOf(received.json, recordsMax)
    if (records.problem !== undefined) return records
    const provenance = deps.provenanceOf(received, { team: sender.value.id, endpoint: 'v1/logs' })
    const sources = createSources(createProjectFinder(sender.value, deps.registry, REMEDY))
    let exactly: readonly PlacedRecord[] | undefined
    const exactRecord = (index: number): unknown => {
      exactly ??= logRecordsOf(provenance.exactBody(), recordsMax).value
      return exactly?.[index]?.record
    }
    return {
      value: records.value.map((placed, index) =>
        checkRecord({ ...placed, source: sources(placed.resource) }, () => exactRecord(index), index, provenance),
      ),
    }
  }
}

/** The log records of a body that was judged, as they were sent. */
export const recordsOfRequest = (recordsMax: number) => (json: unknown) =>
  (logRecordsOf(json, recordsMax).value ?? []).map(({ record }) => record)

/** What the records of one resource have in common. */
interface Source {
  readonly project: Checked<Project>
  readonly service: string | undefined
  readonly environment: string | undefined
}

/** Looks each resource up once, however many records it has. */
function createSources(projects: ProjectFinder): (resource: Fields) => Source {
  const known = new Map<Fields, Source>()
  return (resource) => {
    const found = known.get(resource) ?? sourceOf(resource, projects)
    known.set(resource, found)
    return found
  }
}

function sourceOf({ attributes }: Fields, projects: ProjectFinder): Source {
  const texts = new Map<unknown, string>()
  for (const item of listOf(attributes)) {
    const value = isObject(item) ? plainValue(item['value']) : undefined
    if (isObject(item) && typeof value === 'string' && value !== '') texts.set(item['key'], value)
  }
  const id = texts.get('sluice.project.id')
  const service = texts.get('service.name')
  const project =
    id !== undefined ? projects.byId(id) : service !== undefined ? projects.byName(service) : projects.unnamed()
  const environment = texts.get('deployment.environment.name') ?? texts.get('deployment.environment')
  return { project, service, environment }
}
