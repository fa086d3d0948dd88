import { describe, expect, test } from 'vitest'
import { categoryTree } from '../../../views/api/choices.ts'
import type { Choice } from '../../../views/schemas/answers.ts'
import * as fc from '../../support/fast-check.ts'

const outline = (nodes: readonly Choice[], indent = ''): readonly string[] =>
  nodes.flatMap(({ label, count, children }) => [`${indent}${label} ${count}`, ...outline(children, `${indent}  `)])

describe('the tree of categories', () => {
  test('counts all that stands below, most first, and joins parts that stand alone', () => {
    const values = [
      { value: 'Acme.Billing.Invoices', count: 5 },
      { value: 'Acme.Billing.Jobs.Nightly', count: 2 },
      { value: 'Acme.Shop', count: 9 },
      { value: 'Acme.Shop.Cart', count: 1 },
      { value: 'Microsoft.AspNetCore.Hosting', count: 40 },
      { value: 'single', count: 3 },
    ]
    expect(outline(categoryTree(values))).toEqual([
      'Microsoft.AspNetCore.Hosting 40',
      'Acme 17',
      '  Shop 10',
      '    Cart 1',
      '  Billing 7',
      '    Invoices 5',
      '    Jobs.Nightly 2',
      'single 3',
    ])
  })

  test('a node has the beginning that the filter takes', () => {
    const [acme] = categoryTree([
      { value: 'Acme.Billing.Jobs', count: 1 },
      { value: 'Acme.Shop', count: 1 },
    ])
    expect(acme?.children.map(({ value }) => value)).toEqual(['Acme.Billing.Jobs', 'Acme.Shop'])
  })

  test('a part without a name is not shown, and what is below it is', () => {
    const values = ['.NET.Host', '.Jobs', 'Acme', 'Acme.', 'Acme.Shop', 'Acme..Jobs', '.'].map((value) => ({
      value,
      count: 1,
    }))
    expect(outline(categoryTree(values))).toEqual(['Acme 4', '  .Jobs 1', '  Shop 1', '. 1', '.Jobs 1', '.NET.Host 1'])
  })

  const categories = fc.array(
    fc.record({
      value: fc.array(fc.constantFrom('a', 'b', '', '.'), { maxLength: 6 }).map((parts) => parts.join('.')),
      count: fc.nat(9),
    }),
  )

  test('any categories: a node counts what the filter by its beginning finds', () => {
    fc.assert(
      fc.property(categories, (values) => {
        const walk = (nodes: readonly Choice[]): void => {
          for (const { value: category, label, count, children } of nodes) {
            expect(label === '' && category !== '').toBe(false)
            const below = values.filter(({ value }) => value === category || value.startsWith(`${category}.`))
            expect(count).toBe(below.reduce((sum, one) => sum + one.count, 0))
            walk(children)
          }
        }
        walk(categoryTree(values))
      }),
    )
  })

  test('a name of ten thousand parts is not a tree of ten thousand levels', () => {
    const depth = (nodes: readonly Choice[]): number => Math.max(0, ...nodes.map(({ children }) => 1 + depth(children)))
    const long = Array.from({ length: 10_000 }, () => 'a').join('.')
    const values = Array.from({ length: 20 }, (_, index) => ({ value: `${long.slice(0, 2 * index + 1)}`, count: 1 }))
    expect(depth(categoryTree([...values, { value: long, count: 1 }]))).toBeLessThanOrEqual(12)
  })
})
