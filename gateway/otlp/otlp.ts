import type { Checked, Problem } from '../../shared/contract/errors.ts'
import { fitsDepth } from '../../shared/contract/exact-json.ts'
import { decodeText, parseJsonBody } from '../../shared/http/body.ts'
import { JSON_LIMITS } from '../../shared/http/json-pieces.ts'
import { mediaProblem } from '../../shared/http/media-type.ts'
import type { Project } from '../../shared/registry/registry.ts'
import { createEntryCheck, createRecordCheck } from '../ingest/application-log.ts'
import type { Admitted, BatchCheck, CheckDeps } from '../ingest/checks.ts'
import type { BodyFormat } from '../ingest/endpoint.ts'
import {
  exceeds,
  type Fields,
  isObject,
  refuseNoObject,
  refuseTooDeep,
  refuseTooLarge,
  type TimeForm,
} from '../ingest/fields.ts'
import { FOREIGN_CONTEXT, inSendersNames, SENT_PER_ENTRY_MAX } from '../ingest/foreign-refusal.ts'
import { checkSender, createProjectFinder } from '../ingest/foreign-sender.ts'
import type { SentEntries } from '../ingest/request.ts'
import { OTLP_WITHOUT_LOGS } from './dialect.ts'
import { entryOf, placesIn } from './entry.ts'
import { type LogRecord, logRecordsOf, type PlacedRecord, recordOf } from './log-records.ts'
import { createKeeps, createOrigins, type Origin, RESOURCE_ATTRIBUTES } from './origins.ts'
import { DeferredRecord } from './protobuf.ts'
import { type UsualRecords, usualRecordsOf } from './usual-record.ts'

/** Fewer records of an origin take less time without the preparation of `UsualRecords`. */
const USUAL_RECORDS_MIN = 8

const NO_RECORD: PlacedRecord = { record: null, scope: {}, resource: {} }

/** The remedy of requests whose resources name the Project. */
const REMEDY =
  "Set service.name to the Project's name (OTEL_SERVICE_NAME), or name it by its id (OTEL_RESOURCE_ATTRIBUTES=sluice.project.id=<id>), in the header X-Project-Id, or over HTTP in the address (/projects/<id or name>/v1/logs)."

/**
 * Checks an ExportLogsServiceRequest: the sender, whether it can be read at all, then each log record by itself. A record becomes a
 * `LogRecord`, from JSON (log-records.ts) or Protobuf (protobuf.ts, wire.ts), and with its `Origin`, the resource and the scope
 * (origins.ts), the fields of an application log (entry.ts), which the entry check of these takes. dialect.ts has the answers, and grpc.ts
 * what is different in a gRPC call.
 */
export function createOtlpCheck(deps: CheckDeps): BatchCheck {
  const { entryBytesMax, resourceAttributes, admit } = deps
  const recordBytesMax = SENT_PER_ENTRY_MAX * entryBytesMax
  const checkEntry = createEntryCheck(deps, deps.validators.batchEntry)
  const checkRecord = createRecordCheck(deps, deps.validators.batchEntry)
  const keeps = createKeeps([...RESOURCE_ATTRIBUTES, ...resourceAttributes])

  return (received) => {
    const sender = checkSender(received.headers, deps)
    if (sender.problem !== undefined) return sender
    const records = logRecordsOf(received.json)
    if (records.problem !== undefined) return records
    const found = createProjectFinder(sender.value, deps.registry).byHeader(received.headers)
    if (found?.problem !== undefined) return found
    const named = found?.value
    const endpoint = named ? `v1/logs/${named.id}` : 'v1/logs'
    const context = { ...deps.contextOf(received, { team: sender.value.id, endpoint }), ...FOREIGN_CONTEXT }
    const projects = createProjectFinder(sender.value, deps.registry, REMEDY)
    const originOf = createOrigins({ projects, named, keeps })

    let usual: { readonly origin: Origin; readonly records: UsualRecords | undefined } | undefined

    /** The writer of the usual records of an origin, if it has enough records from this index on. */
    function usualRecords(origin: Origin, index: number): UsualRecords | undefined {
      if (usual?.origin === origin) return usual.records
      const isSame = records.value?.[index]?.scope === records.value?.[index + USUAL_RECORDS_MIN - 1]?.scope
      const checkSample = (fields: Fields, project: Project) =>
        checkRecord(fields, 0, project, { ...context, idOf: () => '' })
      usual = { origin, records: isSame ? usualRecordsOf(origin, checkSample) : undefined }
      return usual.records
    }

    /** Undefined for a record that is not a usual one, or is too large. */
    function admitUsual(sent: unknown, origin: Origin, index: number): Checked<Admitted> | undefined {
      if (!(sent instanceof DeferredRecord)) return undefined
      const written = usualRecords(origin, index)?.write(sent, () => context.idOf(index))
      const admitted = written && admit(written, written.project, context)
      return admitted?.problem === undefined ? admitted : undefined
    }

    function check(index: number): Checked<Admitted> {
      const { record: sent, scope, resource } = records.value?.[index] ?? NO_RECORD
      const origin = originOf(resource, scope)
      const admitted = admitUsual(sent, origin, index)
      if (admitted !== undefined) return admitted
      // First, as bytes that cannot be read refuse the whole request, whatever its Project.
      const record = read(sent)
      if (context.mayExceed(recordBytesMax) && exceeds(record.value, recordBytesMax))
        return refuseTooLarge({ ...record.value }, entryBytesMax)
      const { project } = origin
      if (project.problem !== undefined) return project
      if (record.problem !== undefined) return record
      const entry = entryOf(record.value, origin)
      if (entry.problem !== undefined) return entry
      const checked = checkEntry(entry.value, index, project.value, context)
      return checked.problem === undefined ? checked : inNamesOf(sent, origin, checked.problem)
    }

    const dialect = hasNoLogs(received.json) ? OTLP_WITHOUT_LOGS : undefined
    return { value: { team: sender.value.id, count: records.value.length, check, dialect } }
  }
}

/** Whether a request has members, but none with logs; one without any is how the protocol writes an empty request. */
const hasNoLogs = (json: unknown): boolean =>
  isObject(json) && json['resourceLogs'] === undefined && Object.keys(json).length > 0

/** Refuses a record with its own names and values. It is read again, as the entry took its attributes. */
function inNamesOf(sent: unknown, origin: Origin, cause: Problem): { readonly problem: Problem } {
  const { value: record, problem } = read(sent)
  if (problem !== undefined) return { problem }
  return { problem: inSendersNames(cause, { fields: { ...record }, placeOf: placesIn(record, origin), times: NANOS }) }
}

const NANOS: TimeForm = { form: 'a number of nanoseconds from 1970 to 2261', example: '1769851800123000000' }

/** The log records of a checked body, as they were sent. */
export const sentRecords: SentEntries = ({ json }) => {
  const records = logRecordsOf(json).value ?? []
  return (index) => records[index]?.record
}

function read(sent: unknown): Checked<LogRecord> {
  if (sent instanceof DeferredRecord) return { value: sent.read() }
  if (!isObject(sent)) return refuseNoObject()
  // A short body may be nested more deeply, and reading a value recurses.
  return fitsDepth(sent, JSON_LIMITS.levels) ? recordOf(sent) : refuseTooDeep(sent, JSON_LIMITS.levels)
}

/** The JSON encoding of OTLP, for bodies of every type but Protobuf. */
export const OTLP_JSON_FORMAT: BodyFormat = {
  refusal: ({ headers }) => mediaProblem(headers, 'application/json or application/x-protobuf'),
  decode: decodeText,
  parse: parseJsonBody,
}
