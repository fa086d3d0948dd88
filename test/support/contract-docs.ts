import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import { parse } from 'yaml'
import { parseTimestamp } from '../../shared/contract/timestamp.ts'

const DOCS = join(import.meta.dirname, '../../docs')

/** A JSON object of unknown structure. */
export type Json = Readonly<Record<string, unknown>>

/** The schemas in a folder, by file name. */
export const readSchemas = (folder: string): Readonly<Record<string, Json>> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((file) => /^[a-z-]+\.v\d+\.json$/.test(file))
      .map((file) => [file, JSON.parse(readFileSync(join(folder, file), 'utf8')) as Json]),
  )

export const publishedSchemas = readSchemas(join(DOCS, 'schemas'))

/** Compiles schemas from the published files alone, as a reader would; strict, to detect misspelt keywords. */
export function schemaCompiler(
  schemas: Readonly<Record<string, Json>>,
): (reference: string | object) => ValidateFunction {
  const ajv = new Ajv({ allowUnionTypes: true, strict: true, schemas: Object.values(schemas) })
  ajv.addFormat('date-time', (text: string) => parseTimestamp(text) === text)
  return (reference) => {
    if (typeof reference === 'object') return ajv.compile(reference)
    const validate = ajv.getSchema(reference)
    if (validate === undefined) throw new Error(`there is no schema ${reference}`)
    return validate
  }
}

/** The validation errors of a value, in words; empty if it is valid. */
export function problemsOf(validate: ValidateFunction, value: unknown): readonly string[] {
  if (validate(value)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

export const asyncapi = parse(readFileSync(join(DOCS, 'asyncapi.yaml'), 'utf8'), { merge: false }) as Json

/** The value at a JSON pointer (RFC 6901) in a document. Throws if there is none. */
export function pointed(document: unknown, pointer: string): unknown {
  let found = document
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) {
      throw new Error(`nothing at ${pointer}`)
    }
    found = (found as Json)[name]
  }
  return found
}

/** The target of a `$ref` in the AsyncAPI document: within it, or in a published schema. Throws if there is none. */
export function resolved(reference: string): unknown {
  const [file = '', pointer = ''] = reference.split('#')
  if (file === '') return pointed(asyncapi, pointer)
  return pointed(publishedSchemas[file.replace('./schemas/', '')], pointer)
}
