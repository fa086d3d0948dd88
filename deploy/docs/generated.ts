import { settingsTable } from '../cli/config-commands.ts'
import { valuesSchema } from '../helm/values-schema.ts'
import { dashboardFile } from '../monitoring/dashboard.ts'
import { rulesFile, rulesTestFile } from '../monitoring/render.ts'
import { CLIENT_TYPES_FILE, clientTypes } from './client-types.ts'
import { SCHEMAS } from './schemas.ts'
import { aliasesTable, capacityTable, errorsTable, limitsTable, metricsTable } from './tables.ts'

/** Makes the content of a file of the repository from the code, and from the present content. */
type Make = (present: string) => string

/** Everything that is made from the code, in files or as tables in documents: `npm run docs` writes it, and a test compares it. */
export const GENERATED: readonly (readonly [file: string, make: Make])[] = [
  [CLIENT_TYPES_FILE, clientTypes],
  ['deploy/monitoring/rules-test.yaml', rulesTestFile],
  // The chart can read files of its own folder only, so these are there, and deploy/monitoring links to them.
  ['deploy/helm/sluice/files/rules.yaml', rulesFile],
  ['deploy/helm/sluice/files/dashboard.json', dashboardFile],
  ['deploy/helm/sluice/values.schema.json', valuesSchema],
  ...Object.entries(SCHEMAS).map(
    ([name, schema]) => [`docs/schemas/${name}`, () => `${JSON.stringify(schema, null, 2)}\n`] as const,
  ),
  ['docs/operations.md', tableIn('settings', settingsTable)],
  ['docs/operations.md', tableIn('metrics', metricsTable)],
  ['docs/errors.md', tableIn('errors', errorsTable)],
  ['docs/security.md', tableIn('limits', limitsTable)],
  ['docs/http.md', tableIn('names', aliasesTable)],
  ['docs/capacity.md', tableIn('plans', capacityTable)],
]

/** Puts the table between its markers `<!-- name -->` and `<!-- /name -->`. Throws if a marker is missing. */
export function tableIn(name: string, table: () => string): Make {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  return (document) => {
    const start = document.indexOf(open)
    const end = document.indexOf(close)
    if (start < 0 || end < start) throw new Error(`the document has no place between ${open} and ${close}`)
    return `${document.slice(0, start + open.length)}\n${table()}\n${document.slice(end)}`
  }
}
