import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DOCUMENTED_TABLES, withTable } from './tables.ts'

// Run after a change of the settings, metrics or errors: `node deploy/cli/write-tables.ts`.
for (const { document, name, table } of DOCUMENTED_TABLES) {
  const path = join(import.meta.dirname, '../..', document)
  writeFileSync(path, withTable(readFileSync(path, 'utf8'), name, table()))
}
