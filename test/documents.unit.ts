import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ALERTS } from '../deploy/monitoring/alerts.ts'
import { METRICS } from '../shared/runtime/metrics.ts'
import { ROUTES } from '../views/api/routes.ts'
import { CLIENTS, LOOKS, NODE_CLIENTS } from './clients/clients.ts'
import { clientBlocks } from './support/client-pages.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'clients/typescript/README.md',
  'examples/subscribers/README.md',
  ...globSync('docs/{,clients/,runbooks/}*.md', { cwd: ROOT }).toSorted(),
]
const PACKAGE = JSON.parse(read('package.json')) as { version: string; scripts: Record<string, string> }

/** Files and folders of the repository, as text, code and diagrams name them. */
const FOLDERS = 'deploy|gateway|consumers|views|shared|clients|test|docs|bench|examples'
const FILE = new RegExp(`(?<![\\w./-])(?:${FOLDERS})/[\\w./-]+\\.[a-z]+\\b`, 'g')
const FOLDER = new RegExp(`\`((?:${FOLDERS})/[\\w/-]+)\``, 'g')
const LINK = /\]\(([^)\s:]+)\)/g

describe.each(DOCUMENTS)('%s', (document) => {
  const text = read(document)

  test('every file and folder that it names is there', () => {
    const named = [...text.matchAll(FILE)].map(([path]) => path)
    const folders = [...text.matchAll(FOLDER)].map(([, path = '']) => path)
    // A link is relative to its document, and is judged below.
    const linked = new Set([...text.matchAll(LINK)].map(([, target = '']) => target.split('#')[0]))
    const missing = [...named, ...folders].filter((path) => !linked.has(path) && !existsSync(join(ROOT, path)))
    expect(missing).toEqual([])
  })

  test('every link leads to a file, and to a heading of it', () => {
    const broken = [...text.matchAll(LINK)]
      .map(([, target = '']) => target)
      .filter((target) => {
        const [path = '', anchor] = target.split('#')
        const file = path === '' ? join(ROOT, document) : join(ROOT, dirname(document), path)
        return !existsSync(file) || (anchor !== undefined && !headingsOf(readFileSync(file, 'utf8')).includes(anchor))
      })
    expect(broken).toEqual([])
  })

  test('its commands are scripts of the package', () => {
    const code = [...text.matchAll(/```sh\n([\s\S]*?)```|`(npm [^`]+)`/g)].map(
      ([, block, inline]) => block ?? inline ?? '',
    )
    const named = code.flatMap((lines) => [
      ...[...lines.matchAll(/\bnpm run ([a-z:]+)/g)].map(([, name = '']) => name),
      ...[...lines.matchAll(/\bnpm (start|test)\b/g)].map(([, name = '']) => name),
    ])
    expect(named.filter((name) => PACKAGE.scripts[name] === undefined)).toEqual([])
  })

  test('its code sets no variable that a server started beside it would refuse as a misspelt setting', () => {
    expect([...text.matchAll(/\$\{?(?:env:)?SLUICE_\w+|\bSLUICE_\w+=/g)].map(([name]) => name)).toEqual([])
  })

  test('the metrics and alerts that it names are there', () => {
    const metrics = [...text.matchAll(/`(sluice_[a-z_]+)[`{]/g)].map(([, name = '']) => name)
    const alerts = [...text.matchAll(/`(Sluice[A-Z]\w+)`/g)].map(([, name = '']) => name)
    const known = new Set([
      ...Object.keys(METRICS),
      ...ALERTS.map(({ name }) => name),
      'sluice_session',
      'SluiceTransport',
    ])
    expect([...metrics, ...alerts].filter((name) => !known.has(name))).toEqual([])
  })

  test('no blank line cuts a table in two', () => {
    expect([...text.matchAll(/^\|.*\|\n\n\|(?!.*\|\n\|[ |-]*\|$)/gm)].map(([row]) => row)).toEqual([])
  })
})

/** The anchors of a document's headings, as GitHub makes them. */
function headingsOf(text: string): readonly string[] {
  const withoutCode = text.replaceAll(/```[\s\S]*?```/g, '')
  return [...withoutCode.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
}

describe('docs/http.md', () => {
  const rows = new Map(
    [...read('docs/http.md').matchAll(/^\| `GET (\S+)` \|.*\| (.*) \|$/gm)].map(([, path = '', taken = '']) => [
      path,
      taken,
    ]),
  )
  const FILTER = ROUTES.find(({ path }) => path.endsWith('/choices'))?.parameters ?? []
  const RANGE = ['from', 'to']

  test.each(ROUTES.map(({ path, parameters }) => [path, parameters] as const))(
    '%s has its parameters',
    (path, parameters) => {
      const row = rows.get(path.replace(/^\/api\/\w+-logs/, '…').replaceAll(/:(\w+)/g, '{$1}')) ?? 'no such row'
      const filter = row.startsWith('filter') ? FILTER : []
      // A flow's own key is in its path.
      const left = [
        ...(row.includes('without a range') ? RANGE : []),
        ...(path.includes(':corr') ? ['correlationKey'] : []),
      ]
      const named = [...row.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
      const taken = [...filter.filter((name) => !left.includes(name)), ...named]
      expect(taken.toSorted()).toEqual([...parameters].toSorted())
    },
  )
})

test('every command of the nightly workflow is a script of the package', () => {
  const named = [...read('.github/workflows/nightly.yml').matchAll(/- npm run ([a-z:]+)/g)].map(([, name = '']) => name)
  expect(named).not.toEqual([])
  expect(named.filter((name) => PACKAGE.scripts[name] === undefined)).toEqual([])
})

test('the architecture names files of every folder of the product', () => {
  const named = new Set([...read('docs/architecture.md').matchAll(FILE)].map(([path]) => path.split('/')[0]))
  expect([...named].toSorted()).toEqual(expect.arrayContaining(['consumers', 'deploy', 'gateway', 'shared', 'views']))
})

describe('the configurations of docs/clients', () => {
  const blocks = clientBlocks()
  const heldBy = (kind: string) =>
    blocks
      .filter(({ held }) => held.startsWith(kind))
      .map((block) => ({ ...block, name: block.held.slice(kind.length) }))

  test('each is run, or a part of a file that is, or marked as untested', () => {
    const run = heldBy('client=').map(({ name }) => name)
    const scripts = [...CLIENTS, ...NODE_CLIENTS].map(({ name, script = name }) => script)
    expect([...new Set([...scripts, ...LOOKS])].filter((script) => script !== null).toSorted()).toEqual(run.toSorted())
    const untested = heldBy('untested')
    const others = blocks.filter(
      ({ held, language, text }) =>
        !/^(client=|file=test\/clients\/|untested$)/.test(held) &&
        !(language === 'sh' && text.startsWith('pip install')),
    )
    expect(others).toEqual([])
    const pages = [...new Set(untested.map(({ page }) => page))]
    expect(pages.filter((page) => !/\*\*No test of ours runs /.test(read(`docs/clients/${page}`)))).toEqual([])
  })

  test.each(heldBy('file='))('$page shows what is in $name', ({ name, text }) => {
    const lines = (code: string) =>
      code
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== '')
        .join('\n')
    expect(lines(read(name))).toContain(lines(text))
  })
})

test('package, lock file, image, client and changelog name one version', () => {
  const lock = JSON.parse(read('package-lock.json')) as { version: string; packages: { '': { version: string } } }
  const client = JSON.parse(read('clients/typescript/package.json')) as { version: string }
  const released = /^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$/m.exec(read('CHANGELOG.md'))?.[1]
  const image = /^ARG VERSION=(.+)$/m.exec(read('Dockerfile'))?.[1]
  const versions = [released, lock.version, lock.packages[''].version, image, client.version]
  expect(versions).toEqual(Array(5).fill(PACKAGE.version))
})
