import { describe, expect, test } from 'vitest'
import type { EntryKind } from '../../../../shared/contract/records.ts'
import type { Query } from '../../../../shared/query/ast.ts'
import { parseQuery } from '../../../../shared/query/parse.ts'
import type { EventEntity, Project, StepEntity } from '../../../../shared/registry/registry.ts'
import { NAMED_MAX, withNames } from '../../../../views/search/names-in-query.ts'

const ID = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const projects: Project[] = [{ id: ID, team: 'a', name: 'Billing API' }]
const events: EventEntity[] = [{ kind: 'event', identifier: 'order-placed', team: 'a', name: 'An order was placed' }]
const step = (identifier: string, name: string): StepEntity => ({
  kind: 'step',
  identifier,
  team: 'a',
  name,
  event: null,
  order: 1,
})
const steps = [step('s1', 'Bill the order'), step('s2', 'Größe prüfen'), step('s3', 'S1')]
const registry = { projectsOf: () => projects, eventsOf: () => events, stepsOf: () => steps }

const rewritten = (text: string, kinds: readonly EntryKind[] = [], own = registry): Query =>
  withNames(parseQuery(text).query, 'a', kinds, own)
const equals = (field: 'project' | 'event' | 'step', value: string): Query => ({
  type: 'equals',
  field,
  value,
  prefix: false,
})
/** The query of a text with alternatives. */
const either = (text: string, ...conditions: Query[]): Query => ({
  type: 'or',
  queries: [parseQuery(text).query, ...conditions],
})

describe('words that are names', () => {
  test.each<[string, readonly Query[]]>([
    ['billing', [equals('project', ID)]],
    ['"billing api"', [equals('project', ID)]],
    ['api-bil*', []],
    ['bill*', [equals('project', ID), equals('step', 's1')]],
    ['order', [equals('event', 'order-placed'), equals('step', 's1')]],
    ['"order was pl"*', [equals('event', 'order-placed')]],
    ['GRÖßE', [equals('step', 's2')]],
    [`{${ID.toUpperCase()}}`, [equals('project', ID)]],
  ])('%s', (text, conditions) => {
    const { query } = parseQuery(text)
    expect(rewritten(text)).toEqual(conditions.length === 0 ? query : { type: 'or', queries: [query, ...conditions] })
  })

  test.each<[string, readonly Query[]]>([
    ['project:"billing api"', [equals('project', ID)]],
    ['project:Billing', []],
    ['project:bill*', [equals('project', ID)]],
    [`project:${ID}`, []],
    ['step:"Bill the order"', [equals('step', 's1')]],
    ['event:"Bill the order"', []],
    // An identifier stands for nothing else, also where another Step has it as its name.
    ['step:s1', []],
    ['environment:"Billing API"', []],
    // Without a word, it would be the beginning of every name.
    ['step:"-"*', []],
    ['project:-*', []],
  ])('are read in %s', (text, conditions) => {
    expect(rewritten(text)).toEqual(conditions.length === 0 ? parseQuery(text).query : either(text, ...conditions))
  })

  test('wherever they stand in a query, and no other condition', () => {
    expect(rewritten('level:error -(billing OR x) message:billing scope.a:billing *')).toEqual({
      type: 'and',
      queries: [
        parseQuery('level:error').query,
        {
          type: 'not',
          query: { type: 'or', queries: [either('billing', equals('project', ID)), parseQuery('x').query] },
        },
        parseQuery('message:billing').query,
        parseQuery('scope.a:billing').query,
        { type: 'all' },
      ],
    })
  })

  test('of the kinds that are asked for', () => {
    expect(rewritten('bill*', ['application'])).toEqual(either('bill*', equals('project', ID)))
    expect(rewritten('bill*', ['event'])).toEqual(either('bill*', equals('step', 's1')))
  })

  test('the words of a long phrase that only have to be there stand for nothing', () => {
    const text = `"${'order '.repeat(22)}"`
    expect(rewritten(text)).toEqual(parseQuery(text).query)
  })

  test('a search stands for a bounded number of things, and many are looked through in a bounded time', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => step(`s${index}`, `Pay ${index}`))
    const own = { ...registry, stepsOf: () => many }
    const query = rewritten('pay pay order 99999', [], own)
    const count = JSON.stringify(query).split('"equals"').length - 1
    expect(count).toBe(NAMED_MAX)
    expect(rewritten('99999', [], own)).toEqual(parseQuery('99999').query)
  })

  test('a name is found by its first twenty words', () => {
    const name = Array.from({ length: 30 }, (_, index) => `w${index}`).join(' ')
    const own = { ...registry, projectsOf: () => [{ id: ID, team: 'a', name }] }
    const found = either('w19', equals('project', ID))
    expect([rewritten('w19', ['application'], own), rewritten('w20', ['application'], own)]).toEqual([
      found,
      parseQuery('w20').query,
    ])
  })

  test('a name that changed is found by the new one', () => {
    expect(
      rewritten('invoices', [], { ...registry, projectsOf: () => [{ id: ID, team: 'a', name: 'Invoices' }] }),
    ).toEqual(either('invoices', equals('project', ID)))
  })
})
