import { describe, expect, test } from 'vitest'
import {
  COLUMNS_MAX,
  type Column,
  columnOf,
  csvColumns,
  hasRoom,
  moved,
  parseColumns,
  toggled,
  usualColumns,
  valueNames,
} from '../../../../../views/web/logs/columns.ts'

const names = (columns: readonly Column[] | undefined) => columns?.map(({ name }) => name)
const parse = (text: string) => parseColumns('application', text) ?? []
const values = (count: number) => Array.from({ length: count }, (_, index) => `scope.v${index}`).join(',')

describe('the columns of an address', () => {
  test('are those that the kind has, each once, in their order', () => {
    expect(names(parse('message,level,scope.a b:c,nonsense,step,payload.x,scope.,,level'))).toEqual([
      'message',
      'level',
      'scope.a b:c',
    ])
    expect(parseColumns('event', 'category,scope.a')).toBeUndefined()
    expect(parseColumns('event', '')).toBeUndefined()
    expect(parseColumns('event', undefined)).toBeUndefined()
  })

  test('are no more than there is room for, values no more than the API gives', () => {
    const all = 'level,environment,project,category,message,correlationKey'
    expect(parse(`${all},${values(20)}`)).toHaveLength(COLUMNS_MAX)
    expect(names(parse(`${values(20)},level`))).toEqual([...values(8).split(','), 'level'])
    expect([hasRoom(parse(values(8)), 'scope.more'), hasRoom(parse(values(8)), 'level')]).toEqual([false, true])
    expect(hasRoom(parse(`${all},${values(4)}`), 'eventId')).toBe(false)
  })

  test('ask for the same values whatever their order', () => {
    expect(valueNames(parse('scope.b,level,scope.a'))).toBe('scope.a,scope.b')
    expect(valueNames(parse('scope.a,scope.b'))).toBe('scope.a,scope.b')
  })
})

test('columns are those of a CSV file after the time, by its names and each once', () => {
  expect(csvColumns(usualColumns('event'))).toBe(
    'timestamp,level,environment,event.name,step.name,payload,correlationKey',
  )
  expect(csvColumns(parse('category,project,scope.ms,message'))).toBe(
    'timestamp,categoryName,project.name,scope.ms,message',
  )
  expect(csvColumns(parseColumns('event', 'event,step') ?? [])).toBe('timestamp,event.name,step.name')
})

describe('a column', () => {
  const added = columnOf('application', 'scope.tenant') as Column

  test('comes before the text, or else last, and goes again', () => {
    const usual = usualColumns('application', ['project'])
    const more = toggled(usual, added)
    expect(names(more)).toEqual(['level', 'environment', 'category', 'scope.tenant', 'message', 'correlationKey'])
    expect(toggled(more, added)).toEqual(usual)
    expect(names(toggled(parse('level'), added))).toEqual(['level', 'scope.tenant'])
  })

  test('changes places with its neighbour, but for the ends', () => {
    const columns = parse('level,category,message')
    expect(names(moved(columns, 'category', -1))).toEqual(['category', 'level', 'message'])
    expect(names(moved(columns, 'category', 1))).toEqual(['level', 'message', 'category'])
    for (const [name, step] of [
      ['level', -1],
      ['message', 1],
      ['nowhere', 1],
    ] as const)
      expect(moved(columns, name, step)).toBe(columns)
  })
})
