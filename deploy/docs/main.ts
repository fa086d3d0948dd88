import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SCHEMAS } from './schemas.ts'
import { WRITTEN } from './written.ts'

/** Writes docs/schemas and the other files that are made from the code; tests compare them. */
const root = join(import.meta.dirname, '../..')
for (const [file, schema] of Object.entries(SCHEMAS)) {
  writeFileSync(join(root, 'docs/schemas', file), `${JSON.stringify(schema, null, 2)}\n`)
}
for (const [file, render] of Object.entries(WRITTEN)) writeFileSync(join(root, file), render())
