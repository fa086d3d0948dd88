import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { createOpenApi } from '../../../deploy/openapi/openapi.ts'
import { ERRORS, type ErrorCode, STATUS } from '../../../shared/contract/errors.ts'
import { SERIES_FUNCTIONS } from '../../../shared/log-store/statistics.ts'
import { PARAMETERS, type Parameter } from '../../../views/api/parameters.ts'
import { VIEW_STATUS } from '../../../views/api/problems.ts'
import { GROUPED_BY } from '../../../views/schemas/list-parameters.ts'
import { startViews } from '../../support/views-fixture.ts'

type Json = Record<string, unknown>
interface Media {
  schema: Json
  examples?: Record<string, { value: unknown }>
}
const NOW = Date.parse('2026-02-01T12:00:00Z')

interface Body {
  content: Record<string, Media>
}
interface Found {
  readonly path: string
  readonly method: string
  readonly operation: {
    operationId: string
    tags: string[]
    security?: object[]
    parameters?: { name: string; in: string; required?: boolean; description?: string; schema: Json }[]
    requestBody?: Body
    responses: Record<string, Body & { description: string; headers?: Json }>
  }
}

/** The paths that only read, and all take their parameters alike. */
const READ_API = /^\/api\/(event-logs|application-logs|flows|flow-states|names|query|refusals)/
const INGESTION = /^\/(projects\/|api\/(ExternalLogs|ApplicationLogs|events\/raw)|ingest|v1)/

const document = createOpenApi({
  version: '1.2.3',
  basePath: '/logs',
  batchEntriesMax: 100,
})
const plain = JSON.parse(JSON.stringify(document)) as Json

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation }) as unknown as Found),
)
const bodies = operations.flatMap(({ operation }) =>
  [operation.requestBody, ...Object.values(operation.responses)].filter((body) => body !== undefined),
)

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(plain, 'openapi')

const validators = new Map<string, ReturnType<typeof ajv.compile>>()

/** A validator of a schema that stands in the document. Most bodies have the same few schemas, each of which is compiled once. */
function validatorOf(schema: Json) {
  const text = JSON.stringify(schema).replaceAll('"#/', '"openapi#/')
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text))
  validators.set(text, validate)
  return validate
}

function* walk(value: unknown): Generator<Json> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Json
  for (const child of Object.values(value)) yield* walk(child)
}

describe('GET /openapi.json', () => {
  test('describes ingestion, the settings of a Team, the session and what an operator asks, and nothing else', () => {
    const others = operations.filter(({ path }) => !READ_API.test(path))
    expect(others.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'post /api/ExternalLogs',
      'post /api/ApplicationLogs',
      'post /api/ApplicationLogs/batch',
      'post /v1/logs',
      'post /ingest/otlp/v1/logs',
      'post /ingest/clef',
      'post /api/events/raw',
      'post /ingest/json',
      'post /projects/{project}/v1/logs',
      'post /projects/{project}/ingest/otlp/v1/logs',
      'post /projects/{project}/ingest/clef',
      'post /projects/{project}/api/events/raw',
      'post /projects/{project}/ingest/json',
      'get /api/team',
      'patch /api/team',
      'get /api/team/lists',
      'post /api/team/keys',
      'delete /api/team/keys/{prefix}',
      'post /api/team/events',
      'patch /api/team/events/{identifier}',
      'post /api/team/steps',
      'patch /api/team/steps/{identifier}',
      'post /api/team/projects',
      'patch /api/team/projects/{id}',
      'get /api/team/events/{identifier}/snippets',
      'get /api/team/steps/{identifier}/snippets',
      'get /api/team/projects/{id}/snippets',
      'get /api/team/searches',
      'post /api/team/searches',
      'patch /api/team/searches/{id}',
      'delete /api/team/searches/{id}',
      'get /api/team/watches',
      'post /api/team/watches',
      'get /api/team/watches/{id}',
      'patch /api/team/watches/{id}',
      'delete /api/team/watches/{id}',
      'post /api/team/watches/{id}/test',
      'post /api/team/sample-flow',
      'get /api/session',
      'post /api/session',
      'delete /api/session',
      'get /health/live',
      'get /health/ready',
      'get /metrics',
      'get /openapi.json',
    ])
  })

  test('has no reference that leads nowhere, and none that leaves the document', () => {
    const refs = [...walk(plain)].map((node) => node['$ref']).filter((ref) => ref !== undefined)
    expect(refs.length).toBeGreaterThan(50)
    for (const ref of refs) {
      expect(ref).toMatch(/^#\/components\/schemas\/\w+$/)
      expect(document.components.schemas).toHaveProperty(String(ref).split('/').at(-1) ?? '')
    }
    expect([...walk(plain)].filter((node) => '$id' in node || '$schema' in node)).toEqual([])
  })

  test('has no schema that nothing refers to', () => {
    const text = JSON.stringify(plain)
    const lonely = Object.keys(document.components.schemas).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`),
    )
    expect(lonely).toEqual([])
  })

  test('has schemas that compile, and examples that they accept', () => {
    let checked = 0
    for (const { schema, examples = {} } of bodies.flatMap((body) => Object.values(body.content))) {
      const validate = validatorOf(schema)
      for (const [name, { value }] of Object.entries(examples)) {
        expect([name, value, validate(value) ? [] : validate.errors]).toEqual([name, value, []])
        checked += 1
      }
    }
    expect(checked).toBeGreaterThan(80)
  })

  test('has a JSON answer with an example for every operation', () => {
    for (const { path, operation } of operations)
      for (const { content } of Object.values(operation.responses))
        if (path.startsWith('/api/') && content['application/json'])
          expect(Object.keys(content['application/json'].examples ?? {})).not.toEqual([])
  })

  test('names every error code, each at the status it is answered with', () => {
    const codes = Object.keys(ERRORS) as ErrorCode[]
    expect(document.components.schemas['ErrorCode']).toMatchObject({ enum: codes })
    const named = operations.flatMap(({ path, operation }) =>
      Object.entries(operation.responses).flatMap(([status, body]) =>
        Object.values(body.content['application/json']?.examples ?? {})
          .map((example) => (example.value as { error?: { code: ErrorCode } }).error?.code)
          .filter((code) => code !== undefined)
          .map((code) => ({ code, status: Number(status), statusOf: INGESTION.test(path) ? STATUS : VIEW_STATUS })),
      ),
    )
    for (const { code, status, statusOf } of named)
      if (status !== 200) expect([code, status]).toEqual([code, statusOf[code]])
    const unnamed = codes.filter((code) => !named.some((one) => one.code === code))
    // A method that is refused belongs to no operation; the text of the document says how it is answered.
    expect(unnamed).toEqual(['method_not_allowed'])
    expect(JSON.stringify(plain['info'])).toContain('method_not_allowed')
  })

  test('names what a late body, and a read of the settings that waits too long, are answered with', () => {
    const settings = operations.filter(({ path }) => path.startsWith('/api/team') || path === '/api/session')
    for (const { operation, method } of settings.filter((one) => one.operation.requestBody !== undefined))
      expect([operation.operationId, method, Object.keys(operation.responses)]).toContainEqual(
        expect.arrayContaining(['408']),
      )
    for (const path of ['/api/team', '/api/team/lists'])
      expect(settings.find((one) => one.path === path)?.operation.responses).toHaveProperty('429')
  })

  test('has unique names of operations, known tags, and each parameter of a path', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const tags = (plain['tags'] as { name: string }[]).map(({ name }) => name)
    for (const { path, operation } of operations) {
      expect(tags).toContain(operation.tags[0])
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
      expect(inPath.map(({ name }) => name)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
      expect(inPath.every(({ required }) => required)).toBe(true)
    }
  })

  test('asks for a key everywhere but where none is needed', () => {
    expect(plain['security']).toEqual([{ apiKey: [] }, { bearer: [] }])
    const open = operations.filter(({ operation }) => operation.security?.length === 0).map(({ path }) => path)
    expect([...new Set(open)]).toEqual(['/api/session', '/health/live', '/health/ready', '/metrics', '/openapi.json'])
  })

  test('names the header that a parameter stands for', () => {
    const found = operations.flatMap(({ operation }) =>
      (operation.parameters ?? []).flatMap(({ name, description = '' }) => {
        const [, header] = /The same as the header `([^`]+)`/.exec(description) ?? []
        return header === undefined ? [] : [`${name}: ${header}`]
      }),
    )
    expect([...new Set(found)].toSorted()).toEqual(['project: X-Project-Id', 'strict: X-Strict-Status'])
  })

  test('gives parameters defaults and examples that the service accepts', () => {
    for (const [name, { schema, parse, absent }] of Object.entries<Parameter<unknown>>(PARAMETERS)) {
      const { examples = [], default: initial } = schema as { examples?: string[]; default?: unknown }
      for (const example of examples) expect([name, parse(example, NOW)]).toEqual([name, expect.anything()])
      if (initial !== undefined) expect([name, initial]).toEqual([name, absent])
    }
  })

  test('gives names of values in entries that its path accepts', async () => {
    const views = await startViews()
    try {
      const examples = operations.flatMap(({ path, operation }) =>
        (operation.parameters ?? [])
          .filter(({ name, schema }) => ['value', 'fields', 'columns'].includes(name) && 'examples' in schema)
          .map(({ name, schema: { examples } }) => `${path}?${name}=${(examples as string[])[0]}`),
      )
      expect(examples).toHaveLength(8)
      for (const example of examples.filter((one) => !one.includes('/tail'))) {
        const { status } = await views.get(example.includes('columns') ? `${example}&format=csv` : example)
        expect([example, status]).toEqual([example, 200])
      }
    } finally {
      await views.close()
    }
  })

  test('stands below the base path', () => {
    expect(plain['servers']).toEqual([{ url: '/logs' }])
  })
})

describe('docs/http.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/http.md'), 'utf8')

  test('names every parameter, group and function of the read API', () => {
    for (const name of Object.keys(PARAMETERS)) expect(page).toContain(`\`${name}\``)
    for (const [kind, fields] of Object.entries(GROUPED_BY))
      expect(page).toContain(`| ${kind} logs | ${fields.map((name) => `\`${name}\``).join(', ')} |`)
    for (const fn of SERIES_FUNCTIONS) expect(page).toContain(`\`${fn}\``)
  })
})
