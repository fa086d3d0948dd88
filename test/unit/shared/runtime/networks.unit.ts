import { expect, test } from 'vitest'
import { networkOf } from '../../../../shared/runtime/networks.ts'

test.each([
  ['10.0.0.7', true],
  ['10.0.0.0/8', true],
  ['0.0.0.0/0', true],
  ['fd00::/8', true],
  ['::1', true],
  ['::1/128', true],
  ['10.0.0.0/33', false],
  ['10.0.0.0/-1', false],
  ['10.0.0.0/8.5', false],
  ['10.0.0.0/', false],
  ['10.0.0.0/8/8', false],
  ['10.0.0', false],
  ['fd00::/129', false],
  ['proxy.example.com', false],
  ['*', false],
  ['', false],
])('%j names addresses: %s', (text, expected) => {
  expect(networkOf(text) !== undefined).toBe(expected)
})
