/** Writes everything that is made from the code: `npm run docs`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GENERATED } from './generated.ts'

for (const [file, make] of GENERATED) {
  const path = join(import.meta.dirname, '../..', file)
  writeFileSync(path, make(existsSync(path) ? readFileSync(path, 'utf8') : ''))
}
