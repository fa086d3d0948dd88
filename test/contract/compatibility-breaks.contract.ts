import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Json, readSchemas } from '../support/contract-docs.ts'
import { type Break, breaksBetween } from './compatibility-check.ts'

type Schema = Record<string, unknown> & {
  properties: Record<string, Record<string, unknown>>
  required: string[]
}

const published = readSchemas(join(import.meta.dirname, 'published'))
const base = (): Schema => structuredClone(published['application-log-record.v1.json']) as Schema
const change = (edit: (schema: Schema) => void): readonly Break[] => {
  const schema = base()
  edit(schema)
  return breaksBetween(base(), schema)
}
const at = (name: string): string => `/properties/${name}`
const changed = (name: string, keyword: string): Break => ({ kind: 'keyword_changed', path: at(name), keyword })

describe('a change that breaks readers is found', () => {
  test.each(Object.keys(base().properties))('the property %s removed', (name) => {
    const breaks = change(({ properties }) => void delete properties[name])
    expect(breaks).toEqual([{ kind: 'property_removed', path: at(name) }])
  })

  test.each(Object.keys(base().properties))('the property %s renamed', (name) => {
    const breaks = change(({ properties, required }) => {
      properties[`${name}2`] = properties[name] ?? {}
      delete properties[name]
      if (required.includes(name)) required.splice(required.indexOf(name), 1, `${name}2`)
    })
    expect(breaks).toContainEqual({ kind: 'property_removed', path: at(name) })
  })

  test.each(Object.keys(base().properties))('the type of %s changed', (name) => {
    expect(change(({ properties }) => void Object.assign(properties[name] ?? {}, { type: 'boolean' }))).toEqual([
      changed(name, 'type'),
    ])
  })

  test.each(base().required)('%s no longer promised', (name) => {
    const breaks = change((schema) => {
      schema.required = schema.required.filter((each) => each !== name)
    })
    expect(breaks).toEqual([{ kind: 'no_longer_required', path: at(name) }])
  })

  test.each<[string, Break, (schema: Schema) => void]>([
    ['a value that may be null from now on', changed('message', 'type'), edit('message', { type: ['string', 'null'] })],
    ['a value that may not be null any more', changed('exception', 'type'), edit('exception', { type: 'string' })],
    ['an enumeration narrowed', changed('level', 'enum'), edit('level', { enum: ['Error', 'Critical'] })],
    ['an enumeration widened', changed('level', 'enum'), edit('level', { enum: [...levels(), 'Fatal'] })],
    ['a constant changed', changed('kind', 'const'), edit('kind', { const: 'app' })],
    ['a free text that gets an enumeration', changed('environment', 'enum'), edit('environment', { enum: ['Test'] })],
    ['a limit tightened', changed('eventId', 'maximum'), edit('eventId', { maximum: 65_535 })],
    ['a limit loosened', changed('eventId', 'minimum'), edit('eventId', { minimum: -(2 ** 40) })],
    ['a limit added', changed('message', 'maxLength'), edit('message', { maxLength: 10 })],
    ['a pattern changed', changed('project', 'pattern'), edit('project', { pattern: '^[0-9]+$' })],
    ['a pattern dropped', changed('id', 'pattern'), edit('id', { pattern: undefined })],
    ['a format changed', changed('timestamp', 'format'), edit('timestamp', { format: 'date' })],
    [
      'an open object closed',
      changed('scopeData', 'additionalProperties'),
      edit('scopeData', { additionalProperties: false }),
    ],
  ])('%s', (_what, expected, apply) => {
    expect(change(apply)).toEqual([expected])
  })

  test('a property required that records on the topic may lack', () => {
    expect(change(({ required }) => void required.push('originalLevel'))).toEqual([
      { kind: 'newly_required', path: at('originalLevel') },
    ])
  })

  test('a new property required from the start', () => {
    const breaks = change(({ properties, required }) => {
      properties['region'] = { type: 'string' }
      required.push('region')
    })
    expect(breaks).toEqual([{ kind: 'newly_required', path: at('region') }])
  })

  test.each(['$id', '$schema', 'type', 'additionalProperties', 'not'])(
    'the keyword %s of the record itself',
    (keyword) => {
      expect(change((schema) => void Object.assign(schema, { [keyword]: 'other' }))).toEqual([
        { kind: 'keyword_changed', path: '', keyword },
      ])
    },
  )

  test('a change inside of what a record holds', () => {
    const before = { properties: { list: { items: { properties: { a: { type: 'string' } } } } } }
    const after = { properties: { list: { items: { properties: { a: { type: 'number' } } } } } }
    expect(breaksBetween(before, after)).toEqual([
      { kind: 'keyword_changed', path: '/properties/list/items/properties/a', keyword: 'type' },
    ])
  })

  test('a definition removed, and a change inside of one', () => {
    const before = { definitions: { a: { type: 'string' }, b: { required: ['x'] } } }
    expect(breaksBetween(before, { definitions: { b: {} } })).toEqual([
      { kind: 'property_removed', path: '/definitions/a' },
      { kind: 'no_longer_required', path: '/definitions/b/properties/x' },
    ])
  })
})

describe('a change that breaks nobody is let through', () => {
  test.each<[string, (schema: Schema) => void]>([
    ['none', () => undefined],
    ['a new optional property', ({ properties }) => void Object.assign(properties, { region: { type: 'string' } })],
    ['a better description', edit('message', { description: 'What happened.' })],
    ['a title', (schema) => void Object.assign(schema, { title: 'Application log' })],
    ['an example', edit('message', { examples: ['job done'] })],
    ['another order of required properties', ({ required }) => void required.reverse()],
    ['another order of types', edit('exception', { type: ['null', 'string'] })],
  ])('%s', (_what, apply) => {
    expect(change(apply)).toEqual([])
  })
})

function edit(name: string, keywords: Json): (schema: Schema) => void {
  return ({ properties }) => {
    const kept = Object.entries({ ...properties[name], ...keywords }).filter(([, value]) => value !== undefined)
    properties[name] = Object.fromEntries(kept)
  }
}

function levels(): readonly unknown[] {
  return base().properties['level']?.['enum'] as readonly unknown[]
}
