import { _, type KeywordDefinition } from 'ajv/dist/2020.js'
import { isExactNumber } from '../../shared/contract/exact-json.ts'

/**
 * JSON Schema keywords of our own: `maxBytes` counts a string's bytes in UTF-8, `maxDepth` the levels of objects and arrays.
 * `minLength` replaces the library's, which counts the code points of the whole string; we only ask whether it is empty.
 */
export const KEYWORDS: readonly KeywordDefinition[] = [
  {
    keyword: 'minLength',
    type: 'string',
    schemaType: 'number',
    code: (check) => check.fail(_`${check.data}.length < ${check.schema}`),
  },
  {
    keyword: 'maxBytes',
    type: 'string',
    schemaType: 'number',
    // A UTF-16 unit is 1 to 3 bytes in UTF-8, so most texts need not be measured.
    code: (check) => {
      const measure = check.gen.scopeValue('func', { ref: fitsBytes })
      check.fail(_`${check.data}.length * 3 > ${check.schema} && !${measure}(${check.data}, ${check.schema})`)
    },
  },
  {
    keyword: 'maxDepth',
    type: 'object',
    schemaType: 'number',
    code: (check) => {
      const measure = check.gen.scopeValue('func', { ref: fitsDepth })
      check.fail(_`!${measure}(${check.data}, ${check.schema})`)
    },
  },
]

const fitsBytes = (text: string, bytesMax: number): boolean =>
  text.length <= bytesMax && Buffer.byteLength(text) <= bytesMax

/**
 * Whether objects and arrays are nested at most `levelsMax` levels deep; the recursion goes at most one level deeper. Numbers may be those
 * of `parseExactly`.
 */
export function fitsDepth(value: object, levelsMax: number): boolean {
  if (levelsMax === 0) return false
  // Not in the loop below: V8 compiles a loop over names for objects only, and drops its code for each array.
  if (Array.isArray(value)) return value.every((child) => fitsBelow(child, levelsMax - 1))
  const children = value as Readonly<Record<string, unknown>>
  // This runs for every entry, so it makes no array of the children. Parsed JSON has own properties only.
  for (const name in children) if (!fitsBelow(children[name], levelsMax - 1)) return false
  return true
}

/** A number that is an object adds no level; this is checked last, as few entries get that far. */
const fitsBelow = (child: unknown, levelsMax: number): boolean =>
  typeof child !== 'object' || child === null || fitsDepth(child, levelsMax) || isExactNumber(child)
