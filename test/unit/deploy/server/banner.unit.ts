import { expect, test } from 'vitest'
import { banner } from '../../../../deploy/server/banner.ts'
import { foreignRegistry } from '../../../support/foreign-gateway.ts'
import { registryOf } from '../../../support/registry-topic.ts'

const facts = {
  url: 'http://h:1',
  metricsUrl: 'http://h:2/metrics',
  grpcUrl: undefined,
  registry: foreignRegistry,
  newKey: null,
  program: 'npm run sluice --',
} as const
const GRPC = 'http://h:4317'

test('a role of its own prints its addresses in one line', () => {
  expect(banner({ ...facts, role: 'gateway' })).toBe('Sluice gateway is ready at http://h:1')
  expect(banner({ ...facts, role: 'gateway', grpcUrl: GRPC })).toBe(
    'Sluice gateway is ready at http://h:1 and takes OTLP over gRPC at http://h:4317',
  )
})

test('a whole server lists them', () => {
  expect(banner({ ...facts, role: 'all' })).not.toContain('gRPC')
  expect(banner({ ...facts, role: 'all' })).toContain('  metrics  http://h:2/metrics\n')
  expect(banner({ ...facts, role: 'all', grpcUrl: GRPC })).toContain('  gRPC     http://h:4317 (OTLP)\n')
})

test('of many Teams the first ten are listed, and the number of the others', () => {
  const teams = Array.from({ length: 12 }, (_, n) => `{ id: t${n}, apiKeys: [] }`)
  const lines = banner({ ...facts, role: 'all', registry: registryOf(`teams: [${teams.join(', ')}]`) }).split('\n')
  expect(lines.filter((line) => line.startsWith('  Team '))).toHaveLength(10)
  expect(lines).toContain('  and 2 more: npm run sluice -- registry list')
})

test('in the image commands have its name for the program', () => {
  expect(banner({ ...facts, role: 'all', program: 'sluice' })).toContain('A new one: sluice registry rotate-key ')
})
