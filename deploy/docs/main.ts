import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLIENT_TYPES_FILE, clientTypes } from './client-types.ts'
import { SCHEMAS } from './schemas.ts'

/** Writes docs/schemas and the types of the client from the code; tests compare them. */
const root = join(import.meta.dirname, '../..')
for (const [file, schema] of Object.entries(SCHEMAS)) {
  writeFileSync(join(root, 'docs/schemas', file), `${JSON.stringify(schema, null, 2)}\n`)
}
writeFileSync(join(root, CLIENT_TYPES_FILE), clientTypes())
