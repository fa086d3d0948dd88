/** Writes the files and tables that are made from the code: `npm run docs`. Tests compare them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DOCUMENTED_TABLES, withTable } from '../cli/tables.ts'
import { SCHEMAS } from './schemas.ts'
import { WRITTEN } from './written.ts'

const root = join(import.meta.dirname, '../..')
for (const { document, name, table } of DOCUMENTED_TABLES) {
  const path = join(root, document)
  writeFileSync(path, withTable(readFileSync(path, 'utf8'), name, table()))
}
for (const [file, schema] of Object.entries(SCHEMAS)) {
  writeFileSync(join(root, 'docs/schemas', file), `${JSON.stringify(schema, null, 2)}\n`)
}
for (const [file, render] of Object.entries(WRITTEN)) writeFileSync(join(root, file), render())
