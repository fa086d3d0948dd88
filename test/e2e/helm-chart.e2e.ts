import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { canaryTarget } from '../../deploy/canary/round.ts'
import { RUNBOOKS_URL, ruleGroups } from '../../deploy/monitoring/render.ts'
import { checkRole, type Role } from '../../deploy/server/roles.ts'
import { loadConfig } from '../../shared/runtime/config.ts'
import { kubernetesSchemas } from '../support/kubernetes-schemas.ts'
import { attempt, notProved } from '../support/toolchains.ts'

const run = promisify(execFile)
const HELM = join(import.meta.dirname, '../../deploy/helm')
const CHART = join(HELM, 'sluice')
const EXAMPLES = globSync('examples/*.yaml', { cwd: HELM })
/** Helm that Go has built believes in a Kubernetes of long ago. */
const VERSIONS = ['1.30.0', '1.33.0', '1.36.0']

interface Container {
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string }[]
}
interface Volume {
  readonly projected?: {
    readonly sources: readonly { readonly secret: { readonly items: readonly { path: string }[] } }[]
  }
}
type Labels = Readonly<Record<string, string>>

/** As much of the objects of Kubernetes as is looked at here. */
interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly selector?: Labels & { readonly matchLabels?: Labels }
    readonly podSelector?: { readonly matchLabels: Labels }
    readonly template?: {
      readonly metadata: { readonly labels: Labels }
      readonly spec: {
        readonly containers: readonly Container[]
        readonly volumes: readonly Volume[]
        readonly enableServiceLinks?: boolean
      }
    }
    readonly egress?: readonly { readonly ports: readonly { readonly port: number | string }[] }[]
    readonly groups?: unknown
  }
}

/** The objects with a `spec`; a ConfigMap has none. */
const rendered = async (example: string, version?: string): Promise<readonly Manifest[]> =>
  (await objectsOf(example, version)).filter(({ spec }) => spec !== undefined)

async function objectsOf(example: string, version = VERSIONS[0]): Promise<readonly Manifest[]> {
  const args = ['template', 'sluice', CHART, '-f', join(HELM, example), '--kube-version', String(version)]
  const { stdout } = await run('helm', args, { maxBuffer: 1e8 })
  return parseAllDocuments(stdout).flatMap((document) => {
    expect(document.errors).toEqual([])
    return (document.toJS() as Manifest | null) ?? []
  })
}

const WORKLOADS = ['Deployment', 'StatefulSet', 'Job']
const workloadsOf = (manifests: readonly Manifest[]) =>
  manifests.flatMap(({ kind, metadata, spec: { template } }) =>
    WORKLOADS.includes(kind) && template !== undefined ? [{ ...metadata, kind, template }] : [],
  )

const SECRETS = '/etc/sluice/secrets/'

/** The settings of a container, with a text for each file of a secret that its pod has. */
function settingsOf({ env }: Container, volumes: readonly Volume[]): Record<string, string> {
  const files = volumes.flatMap(({ projected }) => projected?.sources ?? []).flatMap(({ secret }) => secret.items)
  const secrets = env.filter(({ value }) => value?.startsWith(SECRETS))
  expect(secrets.map(({ name, value }) => [name, value])).toEqual(
    files.map(({ path }) => [`${path}_FILE`, `${SECRETS}${path}`]),
  )
  return Object.fromEntries([
    ...env.filter((each) => !secrets.includes(each)).map(({ name, value = '' }) => [name, value]),
    ...files.map(({ path }) => [path, 'x'.repeat(32)]),
  ])
}

const found = await attempt(async () => {
  await run('helm', ['version'])
  return {}
})

if ('missing' in found) notProved('the chart of Helm', found.missing, process.env['REQUIRE_HELM'] === '1')
else
  describe.each(EXAMPLES)('the chart with %s', (example) => {
    test.each(VERSIONS)('passes the linter and is rendered for Kubernetes %s', async (version) => {
      await run('helm', ['lint', '--strict', CHART, '-f', join(HELM, example), '--kube-version', version])
      expect((await rendered(example, version)).length).toBeGreaterThan(2)
    })

    test('gives every process settings with which it can run, and a command that there is', async () => {
      const workloads = workloadsOf(await rendered(example))
      expect(workloads.length).toBeGreaterThan(0)
      for (const { name, template } of workloads) {
        // Services of the namespace would be settings of the same names.
        expect([name, template.spec.enableServiceLinks]).toEqual([name, false])
        for (const container of template.spec.containers) {
          const { args, env } = container
          expect([name, new Set(env.map((each) => each.name)).size]).toEqual([name, env.length])
          const config = loadConfig(settingsOf(container, template.spec.volumes))
          if (args[0] === 'start') checkRole(args[2] as Role, config)
          else if (args[0] === 'canary') canaryTarget(config)
          else expect(['topics apply', 'indices apply', 'registry apply']).toContain(args.slice(0, 2).join(' '))
        }
      }
    })

    test('gives a gateway neither the way to Elasticsearch nor its secrets', async () => {
      const manifests = await rendered(example)
      for (const { template } of workloadsOf(manifests).filter(({ name }) => name === 'sluice-gateway'))
        for (const { env } of template.spec.containers)
          expect(env.filter(({ name }) => name.startsWith('ELASTICSEARCH'))).toEqual([])
      const policies = manifests.filter(
        ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'sluice-gateway',
      )
      for (const { spec } of policies)
        expect(spec.egress?.flatMap(({ ports }) => ports.map(({ port }) => port))).not.toContain(9_200)
    })

    test('gives the key of the canary to the canary alone', async () => {
      const holders = workloadsOf(await rendered(example)).filter(({ template }) =>
        template.spec.containers.some(({ env }) => env.some((each) => each.name === 'CANARY_API_KEY_FILE')),
      )
      expect(holders.map(({ name }) => name)).toEqual(example.includes('in-cluster') ? ['sluice-canary'] : [])
    })

    test('has selectors that find one workload each', async () => {
      const manifests = await rendered(example)
      const workloads = workloadsOf(manifests).filter(({ kind }) => kind !== 'Job')
      const selecting = manifests.filter(({ kind }) =>
        ['Service', 'PodDisruptionBudget', 'NetworkPolicy'].includes(kind),
      )
      expect(selecting.length).toBeGreaterThan(0)
      for (const { kind, metadata, spec } of selecting) {
        const labels = spec.podSelector?.matchLabels ?? spec.selector?.matchLabels ?? spec.selector ?? {}
        const matching = workloads.filter(({ template }) =>
          Object.entries(labels).every(([label, value]) => template.metadata.labels[label] === value),
        )
        expect([kind, metadata.name, matching.length]).toEqual([kind, metadata.name, 1])
      }
    })

    test('has the alerts as they are, with the address of the runbooks that was given', async () => {
      for (const { spec } of (await rendered(example)).filter(({ kind }) => kind === 'PrometheusRule')) {
        const text = JSON.stringify(ruleGroups()).replaceAll(RUNBOOKS_URL, 'https://wiki.example/sluice/runbooks/')
        expect(spec.groups).toEqual(JSON.parse(text))
      }
    })
  })

const schemas = await kubernetesSchemas().then(
  (faultsOf) => ({ faultsOf }),
  ({ message }: Error) => ({ missing: message }),
)

if ('missing' in found || 'missing' in schemas)
  notProved(
    "the chart's objects",
    'missing' in schemas ? schemas.missing : 'there is no Helm',
    process.env['REQUIRE_HELM'] === '1',
  )
else
  test.each(EXAMPLES)(
    'the objects of %s are as Kubernetes and the Prometheus Operator describe them',
    async (example) => {
      const objects = await objectsOf(example)
      expect(objects.flatMap(schemas.faultsOf)).toEqual([])
      const [misspelt] = objects.map((object) => ({ ...object, metadata: { ...object.metadata, lables: {} } }))
      expect(misspelt && schemas.faultsOf(misspelt)).toHaveLength(1)
    },
  )

if (!('missing' in found))
  test('the chart without values says what it needs', async () => {
    const failure = await run('helm', ['template', 'sluice', CHART, '--kube-version', '1.33.0']).catch((error) => error)
    for (const name of ['KAFKA_BROKERS', 'ELASTICSEARCH_URL', 'SESSION_SECRET']) expect(failure.stderr).toContain(name)
  })
