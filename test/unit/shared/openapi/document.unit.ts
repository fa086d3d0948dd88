import { describe, expect, test } from 'vitest'
import {
  arrayOf,
  component,
  flag,
  nullable,
  objectOf,
  type Static,
  text,
  typed,
} from '../../../../shared/contract/json-schema.ts'
import { type OpenApiPart, successResponse, withComponents } from '../../../../shared/openapi/document.ts'

const Pet = component('Pet', { name: text, kind: { enum: ['cat', 'dog'] } })
const House = component('House', { pets: arrayOf(Pet), first: nullable(Pet) })

const pathsOf = (...schemas: readonly Parameters<typeof successResponse>[1][]): OpenApiPart['paths'] => ({
  '/houses': {
    get: {
      operationId: 'houses',
      tags: [],
      summary: '',
      responses: Object.fromEntries(schemas.map((schema, at) => [200 + at, successResponse('', schema, {})])),
    },
  },
})

describe('withComponents', () => {
  test('takes named schemas out of the paths and out of each other, each of them once', () => {
    const { paths, schemas } = withComponents(pathsOf(House, Pet))
    const pet = { $ref: '#/components/schemas/Pet' }
    expect(schemas).toEqual({
      House: objectOf({ pets: arrayOf(pet), first: nullable(pet) }),
      Pet: objectOf({ name: text, kind: { enum: ['cat', 'dog'] } }),
    })
    expect(JSON.stringify(paths)).not.toContain('$id')
    expect(JSON.stringify(paths)).toContain(JSON.stringify({ success: { const: true }, data: pet }))
  })

  test('refuses two schemas of one name', () => {
    expect(() => withComponents(pathsOf(House, component('Pet', { name: text })))).toThrow('two schemas are called Pet')
  })
})

// The type checker is the test: of a keyword that `Static` did not read, `unknown` would be left, which accepts every value.
describe('Static', () => {
  const schema = objectOf(
    {
      house: House,
      count: { type: ['integer', 'null'] },
      named: { type: 'object', additionalProperties: flag },
      free: { type: 'object' },
      choice: { oneOf: [objectOf({ is: { const: 'a' } }), objectOf({ is: { const: 'b' }, why: text })] },
      told: typed<Date>({}),
      more: text,
    },
    ['more'],
  )
  const value: Static<typeof schema> = {
    house: { pets: [{ name: 'Tom', kind: 'cat' }], first: null },
    count: null,
    named: { open: true },
    free: { any: 1 },
    choice: { is: 'b', why: '' },
    told: new Date(0),
  }

  test('is the type of the values that a schema accepts', () => {
    // @ts-expect-error: not one of the enumeration
    const kind: (typeof value)['house']['pets'][number]['kind'] = 'bird'
    // @ts-expect-error: neither a number nor null
    const count: (typeof value)['count'] = ''
    // @ts-expect-error: not a boolean
    const open: (typeof value)['named'][string] = ''
    // @ts-expect-error: the other one has no reason
    const choice: (typeof value)['choice'] = { is: 'a', why: '' }
    // @ts-expect-error: a required property is missing
    const house: (typeof value)['house'] = { pets: [] }
    expect([kind, count, open, choice, house]).toHaveLength(5)
    expect(schema.required).toEqual(['house', 'count', 'named', 'free', 'choice', 'told'])
    expect(value.more).toBeUndefined()
  })
})
