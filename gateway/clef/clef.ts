import type { EntryCheckOptions } from '../application-entry.ts'
import type { CheckDeps } from '../checks.ts'
import type { ForeignFormat } from '../work.ts'
import { createClefCheck, sentEvents } from './check.ts'
import { clefFormat } from './lines.ts'
import { SEQ } from './seq.ts'

/** Serilog's compact log event format (CLEF), as it is sent to Seq. */
export const createClef = (deps: CheckDeps, options: EntryCheckOptions, entriesMax: number): ForeignFormat => ({
  format: clefFormat(entriesMax),
  batch: { check: createClefCheck(deps, options), sent: sentEvents, dialect: SEQ },
})
