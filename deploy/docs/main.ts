import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SCHEMAS } from './schemas.ts'

/** Writes docs/schemas from the code; a test compares the two. */
const folder = join(import.meta.dirname, '../../docs/schemas')
for (const [file, schema] of Object.entries(SCHEMAS)) {
  writeFileSync(join(folder, file), `${JSON.stringify(schema, null, 2)}\n`)
}
