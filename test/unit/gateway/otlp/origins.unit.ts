import { describe, expect, test } from 'vitest'
import { LOGGER_NAMES } from '../../../../gateway/ingest/foreign-fields.ts'
import { createProjectFinder } from '../../../../gateway/ingest/foreign-sender.ts'
import { createKeeps, createOrigins, RESOURCE_ATTRIBUTES } from '../../../../gateway/otlp/origins.ts'
import { CHECKOUT, foreignRegistry, STOCK } from '../../../support/foreign-gateway.ts'

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
const CHECKOUT_SERVICE = text('service.name', 'checkout api')
const projects = createProjectFinder({ id: 'shop', name: 'shop' }, foreignRegistry, 'Name it.')
const keeping = (...names: readonly string[]) =>
  createOrigins({ projects, named: undefined, keeps: createKeeps([...RESOURCE_ATTRIBUTES, ...names]) })
const read = (attributes: readonly unknown[], scope: Record<string, unknown> = {}, ...names: readonly string[]) =>
  keeping(...names)({ attributes }, scope)
const scopeDataOf = (attributes: readonly unknown[], ...names: readonly string[]) =>
  read(attributes, {}, ...names).scopeData

describe('the attributes of a resource that are kept', () => {
  test('are those that tell service, host, container and process apart', () => {
    const kept = {
      'service.namespace': 'shop',
      'service.version': '1.2.3',
      'service.instance.id': '627cc493',
      'host.name': 'web-1',
      'container.id': 'a3bf',
      'container.name': 'checkout',
      'k8s.pod.name': 'checkout-5f6b',
      'k8s.namespace.name': 'shop',
      'process.executable.name': 'node',
    }
    const others = ['telemetry.sdk.name', 'os.type', 'host.id', 'k8sx', 'process.command', 'deployment.environment']
    const attributes = [
      CHECKOUT_SERVICE,
      ...Object.entries(kept).map(([key, value]) => text(key, value)),
      { key: 'process.pid', value: { intValue: '42' } },
      ...others.map((key) => text(key, 'x')),
    ]
    expect(scopeDataOf(attributes)).toEqual({ ...kept, 'process.pid': 42 })
  })

  test('are among the first 1,000, however many there are', () => {
    const filler = Array.from({ length: 999 }, (_, index) => text(`other.${index}`, 'x'))
    const attributes = [...filler, CHECKOUT_SERVICE, text('host.name', 'web-1')]
    const { project, scopeData } = read(attributes, {
      attributes: [...filler.map(() => text('x', '')), CHECKOUT_SERVICE],
    })
    expect([project.value?.id, scopeData]).toEqual([CHECKOUT, { 'service.name': 'checkout api' }])
    expect(read([], { attributes: [...attributes.map(() => text('x', '')), CHECKOUT_SERVICE] }).scopeData).toEqual({})
  })

  test('are also those of the setting', () => {
    const attributes = [CHECKOUT_SERVICE, text('cloud.region', 'eu'), text('cloud', 'x'), text('team', 'a')]
    expect(scopeDataOf(attributes)).toEqual({})
    expect(scopeDataOf(attributes, 'cloud.*')).toEqual({ 'cloud.region': 'eu' })
    expect(scopeDataOf(attributes, 'team', 'cloud')).toEqual({ cloud: 'x', team: 'a' })
  })

  test('have service.name among them where it is not the name of the Project', () => {
    const service = text('service.name', 'Checkout worker')
    expect(scopeDataOf([CHECKOUT_SERVICE])).toEqual({})
    expect(scopeDataOf([service, text('sluice.project.id', CHECKOUT)])).toEqual({ 'service.name': 'Checkout worker' })
    const stock = foreignRegistry.project(STOCK)
    const named = createOrigins({ projects, named: stock, keeps: createKeeps([]) })
    expect(named({ attributes: [CHECKOUT_SERVICE] }, {})).toMatchObject({
      project: { value: { id: STOCK } },
      scopeData: { 'service.name': 'checkout api' },
    })
  })

  test('keep lists and digits; what is empty, nested or nothing is left out', () => {
    const value = (key: string, any: unknown) => ({ key: `k8s.${key}`, value: any })
    let deep: unknown = { stringValue: 'x' }
    for (let level = 0; level < 5_000; level += 1) deep = { arrayValue: { values: [deep] } }
    const scopeData = scopeDataOf([
      value('list', { arrayValue: { values: [{ stringValue: 'a' }, { intValue: '9223372036854775807' }] } }),
      value('map', { kvlistValue: { values: [text('a', 'b')] } }),
      value('rounded', { intValue: 2 ** 63 }),
      value('empty', { stringValue: '' }),
      value('none', {}),
      value('deep', deep),
      'nothing',
      { key: 7 },
    ])
    expect(JSON.stringify(scopeData)).toBe('{"k8s.list":["a",9223372036854775807],"k8s.map":{"a":"b"}}')
  })

  test('are at most 64, of 4,096 bytes', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => text(`k8s.${index}`, 'x'))
    expect(Object.keys(scopeDataOf(many))).toHaveLength(64)
    const wide = Array.from({ length: 10_000 }, (_, index) => text(`k8s.${index}`, 'é'.repeat(300)))
    expect(Buffer.byteLength(JSON.stringify(scopeDataOf(wide)))).toBeLessThanOrEqual(4_096)
    const huge = [text('k8s.huge', 'x'.repeat(1_000_000)), text('host.name', 'web-1')]
    expect(scopeDataOf(huge)).toEqual({ 'host.name': 'web-1' })
  })

  test('are read once for all records of the resource', () => {
    let reads = 0
    const resource = {
      get attributes() {
        reads += 1
        return [CHECKOUT_SERVICE]
      },
    }
    const originOf = keeping()
    for (let scope = 0; scope < 1_000; scope += 1) originOf(resource, { name: `scope ${scope}` })
    expect(reads).toBe(1)
  })
})

describe('the scope', () => {
  const origin = (scope: Record<string, unknown>) => read([CHECKOUT_SERVICE, text('host.name', 'a')], scope)

  test('is the category; its version and attributes are kept', () => {
    const attributes = [text('host.name', 'of the scope'), text('schema', 'x')]
    expect(origin({ name: 'shop.checkout', version: '2.0', attributes })).toEqual({
      project: expect.anything(),
      loggerNames: [],
      category: { value: 'shop.checkout', place: ['scope', 'name'] },
      environment: undefined,
      scopeData: { 'host.name': 'of the scope', schema: 'x', 'otel.scope.version': '2.0' },
    })
  })

  test.each(['unknown', '@opentelemetry/instrumentation-pino', '@opentelemetry/winston-transport'])(
    '%s is no category, and is kept by its name',
    (name) => {
      const { category, loggerNames, scopeData } = origin({ name })
      expect([category.value, loggerNames.at(-1), scopeData['otel.scope.name']]).toEqual(['checkout api', 'name', name])
    },
  )

  test.each([{}, { name: '' }, { name: 7 }])('%j names nothing', (scope) => {
    expect(origin(scope)).toMatchObject({
      category: { value: 'checkout api' },
      loggerNames: LOGGER_NAMES,
      scopeData: { 'host.name': 'a' },
    })
    expect(origin(scope).scopeData).not.toHaveProperty('otel.scope.name')
  })

  test('has at most 16 attributes, of 1,024 bytes', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => text(`a${index}`, 'x'))
    expect(Object.keys(read([], { attributes: many }).scopeData)).toHaveLength(16)
    const wide = many.map(({ key }) => text(key, 'x'.repeat(400)))
    expect(Object.keys(read([], { attributes: wide }).scopeData)).toHaveLength(2)
  })

  test('another of the same resource has its own values', () => {
    const originOf = keeping()
    const resource = { attributes: [CHECKOUT_SERVICE] }
    const names = ['a', 'b', 'a'].map((name) => originOf(resource, { name }).category.value)
    expect(names).toEqual(['a', 'b', 'a'])
  })
})
