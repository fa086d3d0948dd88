import { _, type KeywordDefinition } from 'ajv/dist/2020.js'
import { fitsDepth } from '../../shared/contract/exact-json.ts'

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
