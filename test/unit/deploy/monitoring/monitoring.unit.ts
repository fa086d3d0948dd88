import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { COMMANDS } from '../../../../deploy/cli/cli.ts'
import { ALERTS, OBJECTIVES, WINDOWS } from '../../../../deploy/monitoring/alerts.ts'
import { ROWS } from '../../../../deploy/monitoring/dashboard.ts'
import { RUNBOOKS_URL, ruleGroups } from '../../../../deploy/monitoring/render.ts'
import { SETTINGS, type Setting } from '../../../../shared/runtime/config-schema.ts'
import { createMetrics, METRICS } from '../../../../shared/runtime/metrics.ts'
import { ROUTES } from '../../../../views/api/routes.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

/** Pages of operations; every other one is an alert's. */
const OPERATIONS = [
  'add-partitions',
  'fail-back',
  'fail-over',
  'full-disk',
  'leaked-key',
  'lost-index',
  'lost-registry',
  'poison-flood',
  'rebuild',
  'rolling-restart',
  'scale',
  'session-secret',
]
const PAGES = globSync('docs/runbooks/*.md', { cwd: ROOT }).map((file) => basename(file, '.md'))
const ALERT_PAGES = ALERTS.map(({ name }) => name)
const SECTIONS = ['What users see', 'Confirm', 'Do', 'Do not']

const rules = ruleGroups().flatMap((group) => group.rules)
const recorded = new Set(rules.flatMap(({ record }) => record ?? []))
const processMetrics = new Set(
  createMetrics({ processMetrics: true })
    .registry.getMetricsAsArray()
    .map(({ name }) => name),
)

/** The labels of a series by its name; undefined where there is none of that name. */
function labelsOf(name: string): readonly string[] | undefined {
  if (recorded.has(name)) return ['slo', 'view']
  const base = name.replace(/_(bucket|sum|count)$/, '')
  const spec: { kind: string; labels?: readonly string[] } | undefined =
    METRICS[name as keyof typeof METRICS] ?? METRICS[base as keyof typeof METRICS]
  if (spec === undefined) return processMetrics.has(name) ? [] : undefined
  const isPart = name !== base && !Object.hasOwn(METRICS, name)
  if (isPart !== (spec.kind === 'histogram')) return undefined
  return [...(spec.labels ?? []), ...(name.endsWith('_bucket') ? ['le'] : [])]
}

/** The faults of an expression: series that no process shows, and labels that they have not. */
function faultsOf(expression: string): readonly string[] {
  const series = [...expression.matchAll(/\b((?:sluice|process|nodejs)[_:]\w[\w:]*)(?:\{([^}]*)\})?/g)]
  if (series.length === 0) return [`no metric in ${expression}`]
  return series.flatMap(([, name = '', selector = '']) => {
    const labels = labelsOf(name)
    if (labels === undefined) return [name]
    const asked = [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label)
    return asked.filter((label) => !['instance', ...labels].includes(label)).map((label) => `${name} has no ${label}`)
  })
}

test('the faults of expressions are found', () => {
  expect(faultsOf('sum(sluice_nothing) + sluice_publish_seconds + sluice_registry_ready_bucket')).toHaveLength(3)
  expect(faultsOf('sluice_registry_ready{view="flows"}')).toEqual(['sluice_registry_ready has no view'])
  expect(faultsOf('sluice_publish_seconds_bucket{le="0.1"}')).toEqual([])
})

describe('the rules', () => {
  test.each(rules.map(({ record, alert, expr }) => [record ?? alert ?? '', expr]))(
    '%s asks for what is there',
    (_, expr) => {
      expect(faultsOf(expr)).toEqual([])
    },
  )

  test('record each objective in every window, and ask for no other', () => {
    expect(rules.filter(({ record }) => record !== undefined)).toHaveLength(2 * OBJECTIVES.length * WINDOWS.length)
  })

  test('count every path that reads logs, but tails and exports', () => {
    const read = OBJECTIVES.find(({ name }) => name === 'read')?.valid('1h') ?? ''
    const [, paths = '', others = ''] = /route=~"([^"]+)",route!~"([^"]+)"/.exec(read) ?? []
    const isCounted = (path: string) =>
      new RegExp(`^(?:${paths})$`).test(path) && !new RegExp(`^(?:${others})$`).test(path)
    const left = ROUTES.map(({ path }) => path).filter((path) => !isCounted(path))
    expect(left.filter((path) => !/^\/api\/(names|query)|\/(tail|export)$/.test(path))).toEqual([])
  })

  test('of objectives have a bound among the buckets', () => {
    const bounds = new Set(
      rules.flatMap(({ expr }) =>
        [...expr.matchAll(/\ble=~?"([^"]+)"/g)].flatMap(([, bound = '']) => bound.split('|')),
      ),
    )
    const metrics = createMetrics()
    const { upperBounds } = metrics.histogram('sluice_publish_seconds') as unknown as { upperBounds: number[] }
    expect([...bounds].filter((bound) => !upperBounds.includes(Number(bound)))).toEqual([])
  })

  test('are the only ones of their names', () => {
    expect(new Set(ALERT_PAGES).size).toBe(ALERT_PAGES.length)
  })
})

describe.each(ALERTS)('the alert $name', ({ name, rules: own, cases }) => {
  test('fires in one case of its own and is silent in another', () => {
    expect(cases.some(({ firing }) => firing.length > 0)).toBe(true)
    expect(cases.some(({ firing }) => firing.length === 0)).toBe(true)
    const fired = new Set(cases.flatMap(({ firing }) => firing.map(({ severity }) => severity)))
    expect([...fired].toSorted()).toEqual([...new Set(own.map(({ severity }) => severity))].toSorted())
  })

  test('leads to a page that has all a reader needs', () => {
    const urls = rules.filter(({ alert }) => alert === name).map(({ annotations }) => annotations?.['runbook_url'])
    expect(new Set(urls)).toEqual(new Set([`${RUNBOOKS_URL}${name}.md`]))
    expect(PAGES).toContain(name)
  })
})

describe('the dashboard', () => {
  const panels = Object.values(ROWS).flat()

  test.each(panels.map(({ title, queries }) => [title, Object.values(queries)] as const))('%s', (_, queries) => {
    expect(queries.flatMap(faultsOf)).toEqual([])
  })

  test('shows no age of what has not happened yet, whose time is 0', () => {
    const ages = panels.flatMap(({ queries }) => Object.values(queries)).filter((query) => query.includes('time() -'))
    expect(ages.filter((query) => !query.includes('_seconds > 0)'))).toEqual([])
  })

  test('shows every metric of the program', () => {
    const shown =
      panels.flatMap(({ queries }) => Object.values(queries)).join('\n') +
      JSON.stringify(OBJECTIVES.map(({ bad }) => bad('1h')))
    const alerted = rules.map(({ expr }) => expr).join('\n')
    expect(Object.keys(METRICS).filter((name) => !`${shown}${alerted}`.includes(name))).toEqual([])
  })
})

describe('the runbooks', () => {
  test('belong to an alert or to an operation, each', () => {
    expect(PAGES.toSorted()).toEqual(['README', ...ALERT_PAGES, ...OPERATIONS].toSorted())
  })

  test('are all listed', () => {
    const listed = [...read('docs/runbooks/README.md').matchAll(/\]\(([\w-]+)\.md\)/g)].map(([, page = '']) => page)
    expect(listed.toSorted()).toEqual([...ALERT_PAGES, ...OPERATIONS].toSorted())
  })

  describe.each(PAGES.filter((page) => page !== 'README'))('%s', (page) => {
    const text = read(`docs/runbooks/${page}.md`)

    test('says what users see, how to confirm it, what to do and what not', () => {
      expect([...text.matchAll(/^## (.*)$/gm)].map(([, head]) => head)).toEqual(SECTIONS)
    })

    test('asks for metrics that are there', () => {
      const named = [...text.matchAll(/\bsluice_\w+(?:\{[^}]*\})?/g)].map(([series]) => series)
      expect(named.flatMap(faultsOf)).toEqual([])
      const asked = [...text.matchAll(/```promql\n([\s\S]*?)```/g)].flatMap(([, block = '']) =>
        block.trim().split('\n'),
      )
      expect(asked.flatMap(faultsOf)).toEqual([])
    })

    test('calls commands as they are', () => {
      const code = [...text.matchAll(/```sh\n([\s\S]*?)```|`([^`\n]+)`/g)].flatMap(([, block, inline]) =>
        (block ?? inline ?? '').split('\n'),
      )
      const wrong = code
        .filter((line) => line.startsWith('sluice '))
        .filter((line) => {
          const words = line.slice('sluice '.length).split(' ')
          const command = COMMANDS.find(({ name }) => words.join(' ').startsWith(name))
          const options = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2))
          return command === undefined || options.some((option) => !Object.hasOwn(command.options ?? {}, option))
        })
      expect(wrong).toEqual([])
    })

    test('names settings as they are', () => {
      const named = [...text.matchAll(/`([A-Z][A-Z_]{3,})(?:=[^`]*)?`/g)].map(([, name = '']) => name)
      const files = Object.entries<Setting>(SETTINGS).flatMap(([name, { secret }]) => (secret ? [`${name}_FILE`] : []))
      const known = [...Object.keys(SETTINGS), ...files, 'SIGTERM', 'SIGKILL', 'DELETE']
      expect(named.filter((name) => !known.includes(name))).toEqual([])
    })
  })
})

test('the routes of Alertmanager name alerts that are there', () => {
  const { inhibit_rules: inhibitions } = parse(read('deploy/monitoring/alertmanager.example.yaml')) as {
    inhibit_rules: readonly Record<string, unknown>[]
  }
  const named = [...JSON.stringify(inhibitions).matchAll(/Sluice\w+/g)].map(([name]) => name)
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((name) => !ALERT_PAGES.includes(name))).toEqual([])
})
