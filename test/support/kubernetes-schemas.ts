import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Ajv } from 'ajv'
import { parse } from 'yaml'

const run = promisify(execFile)

/** Go modules that hold the schemas of Kubernetes, and those of the resources that the Prometheus Operator defines. */
const KUBERNETES = 'k8s.io/kubernetes@v1.36.3'
const PROMETHEUS_OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.85.0'
const CUSTOM = ['podmonitors', 'prometheusrules'].map(
  (name) => `example/prometheus-operator-crd/monitoring.coreos.com_${name}.yaml`,
)

interface Schema {
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[]
}

/** The faults of a Kubernetes object; unknown fields are faults, too. */
export type FaultsOf = (object: { readonly apiVersion: string; readonly kind: string }) => readonly string[]

/** Downloads the schemas; rejects if Go or its modules are missing. */
export async function kubernetesSchemas(): Promise<FaultsOf> {
  const kubernetes = await moduleFolder(KUBERNETES)
  const operator = await moduleFolder(PROMETHEUS_OPERATOR)
  const { definitions } = JSON.parse(readFileSync(join(kubernetes, 'api/openapi-spec/swagger.json'), 'utf8')) as {
    definitions: Record<string, Schema>
  }
  const ajv = new Ajv({ strict: false, validateFormats: false })
  ajv.addSchema({
    $id: 'kubernetes',
    definitions: Object.fromEntries(Object.entries(definitions).map(([name, schema]) => [name, closed(schema)])),
  })
  const known = new Map<string, object>()
  for (const [name, { 'x-kubernetes-group-version-kind': kinds = [] }] of Object.entries(definitions))
    for (const { group, version, kind } of kinds)
      known.set(`${group === '' ? '' : `${group}/`}${version} ${kind}`, { $ref: `kubernetes#/definitions/${name}` })
  for (const file of CUSTOM) {
    const { spec } = parse(readFileSync(join(operator, file), 'utf8'))
    for (const { name, schema } of spec.versions)
      known.set(`${spec.group}/${name} ${spec.names.kind}`, closed(schema.openAPIV3Schema))
  }
  return (object) => {
    const schema = known.get(`${object.apiVersion} ${object.kind}`)
    if (schema === undefined) return [`there is no ${object.kind} in ${object.apiVersion}`]
    const validate = ajv.compile(schema)
    validate(object)
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${object.kind}${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }
}

async function moduleFolder(name: string): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', name], { timeout: 120_000 })
  return (JSON.parse(stdout) as { Dir: string }).Dir
}

/** The schema without unknown fields, as servers refuse them in strict validation. */
function closed(schema: Schema): object {
  const { type, format, pattern, properties, additionalProperties, items } = schema
  // An object's own metadata is described by Kubernetes, not by a custom resource's schema.
  if (type === 'object' && properties === undefined && additionalProperties === undefined) return schema
  if (format === 'int-or-string' || schema['x-kubernetes-int-or-string']) return { type: ['string', 'integer'] }
  return {
    ...schema,
    // Go's notation for "in any case", which JavaScript lacks.
    ...(pattern?.startsWith('^(?i)') && { pattern: '' }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, closed(one)])),
      additionalProperties: false,
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: closed(additionalProperties) }),
    ...(items && { items: closed(items) }),
  }
}
