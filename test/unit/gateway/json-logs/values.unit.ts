import { describe, expect, test } from 'vitest'
import { ALIASES, type Alias, nameOf } from '../../../../gateway/json-logs/aliases.ts'
import { findFields } from '../../../../gateway/json-logs/found.ts'
import { levelIn, timeOf } from '../../../../gateway/json-logs/values.ts'
import { parseExactly } from '../../../../shared/contract/exact-json.ts'
import { timestampOf, toNanos } from '../../../../shared/contract/timestamp.ts'
import * as fc from '../../../support/fast-check.ts'

describe('a time', () => {
  test.each<[unknown, string | undefined]>([
    [1795281613, '2026-11-21T17:20:13.000Z'],
    ['1795281613.127', '2026-11-21T17:20:13.127Z'],
    [1795281613.1271234, '2026-11-21T17:20:13.1271234Z'],
    [1795281613127, '2026-11-21T17:20:13.127Z'],
    [1795281613127.5, '2026-11-21T17:20:13.1275Z'],
    ['1795281613127123', '2026-11-21T17:20:13.127123Z'],
    ['1795281613127123456', '2026-11-21T17:20:13.127123456Z'],
    [parseExactly('1795281613127123456'), '2026-11-21T17:20:13.127123456Z'],
    ['1795281613127123456.99', '2026-11-21T17:20:13.127123456Z'],
    ['1795281613.12712345678', '2026-11-21T17:20:13.127123456Z'],
    [100_000_000, '1973-03-03T09:46:40.000Z'],
    ['2026-11-21 17:20:13,127', '2026-11-21T17:20:13.127Z'],
    ['2026-11-21T18:20:13+0100', '2026-11-21T17:20:13.000Z'],
    [{ epochSecond: 1795281613, nanoOfSecond: 1 }, '2026-11-21T17:20:13.000000001Z'],
    [{ seconds: '1795281613' }, '2026-11-21T17:20:13.000Z'],
    [99_999_999, undefined],
    [0, undefined],
    [-1795281613, undefined],
    [35.5, undefined],
    ['20261121172013', undefined],
    [1e11 - 1, undefined],
    [9.3e18, undefined],
    [1e20, undefined],
    [1e300, undefined],
    ['9'.repeat(100_000), undefined],
    ['Nov 21 17:20:13', undefined],
    ['', undefined],
    [true, undefined],
    [null, undefined],
    [[], undefined],
    [{}, undefined],
    [{ epochSecond: -1 }, undefined],
    [{ epochSecond: 99_999_999_999, nanoOfSecond: 5 }, undefined],
    [{ epochSecond: 1795281613, nanoOfSecond: 1e9 }, undefined],
  ])('%j is %s', (written, timestamp) => {
    expect(timeOf(written)).toBe(timestamp)
  })

  test('is the same instant in every unit', () => {
    const epochMs = fc.integer({ min: 1e11, max: 9_000_000_000_000 })
    fc.assert(
      fc.property(epochMs, (ms) => {
        const timestamp = timestampOf(ms)
        const units = [ms / 1_000, ms, String(ms * 1_000), `${ms}000000`, timestamp]
        expect(units.map(timeOf)).toEqual(units.map(() => timestamp))
        expect(toNanos(timestamp)).toBe(BigInt(ms) * 1_000_000n)
      }),
    )
  })
})

describe('a level', () => {
  test.each<[string, unknown, string | undefined]>([
    ...(
      [
        [0, 'Critical'],
        [3, 'Error'],
        [4, 'Warning'],
        [5, 'Information'],
        [7, 'Debug'],
        [10, 'Trace'],
        [20, 'Debug'],
        [30, 'Information'],
        [35, 'Information'],
        [40, 'Warning'],
        [50, 'Error'],
        [60, 'Critical'],
        [5_000, 'Trace'],
        [10_000, 'Debug'],
        [20_000, 'Information'],
        [30_000, 'Warning'],
        [40_000, 'Error'],
        ['30', 'Information'],
        [200, undefined],
        [-1, undefined],
        [30.5, undefined],
      ] as const
    ).map(([written, level]): [string, unknown, string | undefined] => ['level', written, level]),
    ['levelno', 30, 'Warning'],
    ['levelno', 5, 'Trace'],
    ['priority', '3', 'Error'],
    ['priority', 30, undefined],
    ['log.level', 30, 'Information'],
    ['severity', 2, 'Critical'],
    ['level', 'W', 'Warning'],
    ['level', 'silly', 'Trace'],
    ['level', 'http', 'Debug'],
    ['level', 'NOTICE', 'Information'],
    ['level', 'DEBUG-4', 'Debug'],
    ['level', 'ERROR+8', 'Error'],
    ['level', '\u001b[1;31merror\u001b[0m', 'Error'],
    ['level', 'loud', undefined],
    ['level', '', undefined],
    ['level', {}, undefined],
    ['level', true, undefined],
  ])('%s %j is %s', (name, written, level) => {
    expect(levelIn(written, name)).toBe(level)
  })
})

describe('the table of names', () => {
  const names = Object.values<readonly Alias[]>(ALIASES).flat().map(nameOf)
  const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '')

  test('has each of them once', () => {
    expect(names.length).toBeGreaterThan(100)
    expect(names.map(plain).filter((name, index, all) => all.indexOf(name) !== index)).toEqual([])
  })

  test('finds each of them in any case, as a name with dots and as objects, and in the order of the table', () => {
    for (const [field, aliases] of Object.entries<readonly Alias[]>(ALIASES)) {
      const beside = { hostname: 1, fields: { a: 1 } }
      for (const name of aliases.map(nameOf)) {
        const nested = name.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), 'here')
        const forms = [{ [name]: 'here' }, { [name.toUpperCase()]: 'here' }, nested as object]
        for (const form of forms) {
          const found = findFields({ ...beside, ...form })
          const texts = found.of(field as keyof typeof ALIASES).filter(({ value }) => value === 'here')
          expect([name, texts.length]).toEqual([name, 1])
          found.take(field as keyof typeof ALIASES, String)
          expect([name, found.rest()]).toEqual([name, 'fields' in form ? { hostname: 1 } : beside])
        }
      }
      const all = Object.fromEntries(aliases.map((alias): [string, string] => [nameOf(alias), nameOf(alias)]).reverse())
      const found = findFields({ ...beside, ...all }).of(field as keyof typeof ALIASES)
      expect(found.map(({ value }) => value)).toEqual(aliases.map(nameOf))
    }
  })

  test('leaves a name and a target where nothing says that they are those of a logger', () => {
    expect(findFields({ name: 'Bob', target: 'x' }).of('categoryName')).toEqual([])
  })
})
