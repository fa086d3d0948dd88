import type { EntryCheckOptions } from '../application-entry.ts'
import type { CheckDeps } from '../checks.ts'
import { sentEntries } from '../sent-entries.ts'
import type { ForeignFormat } from '../work.ts'
import { createOtlpCheck, recordsOfRequest } from './check.ts'
import { OTLP } from './dialect.ts'
import { OTLP_FORMAT } from './format.ts'

/** The logs of OTLP/HTTP in its JSON encoding (opentelemetry-proto, docs/specification.md). */
export const createOtlp = (deps: CheckDeps, options: EntryCheckOptions, entriesMax: number): ForeignFormat => ({
  format: OTLP_FORMAT,
  batch: {
    check: createOtlpCheck(deps, options, entriesMax),
    sent: sentEntries(recordsOfRequest(entriesMax)),
    dialect: OTLP,
  },
})
