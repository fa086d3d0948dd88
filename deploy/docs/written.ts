import { valuesSchema } from '../helm/values-schema.ts'
import { dashboardFile } from '../monitoring/dashboard.ts'
import { rulesFile, rulesTestFile } from '../monitoring/render.ts'
import { CLIENT_TYPES_FILE, clientTypes } from './client-types.ts'

/** Files of the repository that are generated from the code, and the functions that render them. */
export const WRITTEN: Readonly<Record<string, () => string>> = {
  [CLIENT_TYPES_FILE]: clientTypes,
  'deploy/monitoring/rules.yaml': rulesFile,
  'deploy/monitoring/rules-test.yaml': rulesTestFile,
  'deploy/monitoring/dashboard.json': dashboardFile,
  'deploy/helm/sluice/values.schema.json': valuesSchema,
  // A chart can read files of its own folder only.
  'deploy/helm/sluice/files/rules.yaml': rulesFile,
  'deploy/helm/sluice/files/dashboard.json': dashboardFile,
}
