import { type Checked, refuse } from '../../shared/errors.ts'
import { type Fields, isObject } from '../fields.ts'

/** A log record with what it belongs to; `resource` and `scope` are empty where the request has none. */
export interface PlacedRecord {
  readonly record: unknown
  readonly resource: Fields
  readonly scope: Fields
}

const NONE: Fields = {}

/**
 * Every log record of an ExportLogsServiceRequest, in its order. Fields that are not known are ignored, as the protocol demands, and
 * null is a field that is left out; a known field of the wrong type makes the whole request unreadable. At most `recordsMax`.
 */
export function logRecordsOf(json: unknown, recordsMax: number): Checked<readonly PlacedRecord[]> {
  const records: PlacedRecord[] = []
  const wrong: { path: string; message: string }[] = []
  let count = 0

  /** The objects of a repeated field; what is none is reported once. */
  function* children(parent: Fields, name: string, path: string): Generator<readonly [Fields, string]> {
    const list = parent[name] ?? []
    if (!Array.isArray(list)) {
      wrong.push({ path: `${path}/${name}`, message: 'must be a JSON array' })
      return
    }
    for (let index = 0; index < list.length && wrong.length === 0; index += 1) {
      const child: unknown = list[index]
      if (isObject(child)) yield [child, `${path}/${name}/${index}`]
      else wrong.push({ path: `${path}/${name}/${index}`, message: 'must be a JSON object' })
    }
  }

  function child(parent: Fields, name: string, path: string): Fields {
    const value = parent[name] ?? NONE
    if (isObject(value)) return value
    wrong.push({ path: `${path}/${name}`, message: 'must be a JSON object' })
    return NONE
  }

  if (!isObject(json)) return refuse('invalid_request', [{ path: '', message: 'must be a JSON object' }])
  for (const [resourceLogs, resourcePath] of children(json, 'resourceLogs', '')) {
    const resource = child(resourceLogs, 'resource', resourcePath)
    for (const [scopeLogs, scopePath] of children(resourceLogs, 'scopeLogs', resourcePath)) {
      const scope = child(scopeLogs, 'scope', scopePath)
      const list = scopeLogs['logRecords'] ?? []
      if (!Array.isArray(list)) wrong.push({ path: `${scopePath}/logRecords`, message: 'must be a JSON array' })
      else {
        count += list.length
        if (count <= recordsMax) for (const record of list) records.push({ record, resource, scope })
      }
    }
  }
  if (wrong.length > 0) return refuse('invalid_request', wrong)
  if (count > recordsMax) return refuse('batch_too_large', { entries: count, limit: recordsMax })
  return { value: records }
}
