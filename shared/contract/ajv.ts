import { Ajv } from 'ajv'
import { parseTimestamp } from './timestamp.ts'

/** Validates records by their schemas; each schema is compiled when it is first used. Tests check the schemas themselves: that takes 50 ms. */
export const ajv = new Ajv({ allowUnionTypes: true, validateSchema: false })
// Only the canonical form: a store reads its digits by position and would fail on a date that does not exist.
ajv.addFormat('date-time', (text: string) => parseTimestamp(text) === text)
