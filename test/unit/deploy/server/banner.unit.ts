import { expect, test } from 'vitest'
import { banner } from '../../../../deploy/server/banner.ts'
import { foreignRegistry } from '../../../support/foreign-gateway.ts'

const facts = {
  url: 'http://h:1',
  metricsUrl: 'http://h:2/metrics',
  grpcUrl: undefined,
  registry: foreignRegistry,
  newKey: null,
}
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
