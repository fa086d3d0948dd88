import type { Entry } from '../api/types.ts'

/** How loggers and frameworks name the time that something took, without marks and in lower case; in milliseconds. */
const NAMES = ['durationms', 'elapsedms', 'elapsedmilliseconds', 'durationmilliseconds']

/** How long what a log tells of took, where its payload or its scope says so; it ended when the log was written. Milliseconds. */
export function durationOf(entry: Entry): number | undefined {
  const values = entry.kind === 'application' ? entry.scopeData : objectOf(entry.payload)
  for (const [name, value] of Object.entries(values ?? {})) {
    if (typeof value !== 'number' || !(value > 0)) continue
    if (NAMES.includes(name.replaceAll(/[-_.]/g, '').toLowerCase())) return value
  }
  return undefined
}

function objectOf(payload: string): object | undefined {
  // Parsing every payload of a large flow takes long; only an object that speaks of a time can be one.
  if (!payload.startsWith('{') || !/duration|elapsed/i.test(payload)) return undefined
  try {
    return JSON.parse(payload) as object
  } catch {
    return undefined
  }
}
