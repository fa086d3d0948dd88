import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const LAYERS = ['shared', 'gateway', 'consumers', 'views', 'deploy']

/** The folders that each folder may import besides itself. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  gateway: ['shared'],
  consumers: ['shared'],
  views: ['shared'],
  deploy: ['shared', 'gateway', 'consumers', 'views'],
}

/** Drivers, and the folders that alone may import them. */
const DRIVERS: Readonly<Record<string, readonly string[]>> = {
  'node:sqlite': [
    'shared/sqlite/',
    'shared/journal/sqlite/',
    'shared/log-store/sqlite/',
    'deploy/server/data-dir-lock.ts',
  ],
  kafkajs: ['shared/journal/kafka/'],
  '@platformatic/kafka': ['shared/journal/kafka/'],
  '@bufbuild/protobuf/wire': ['gateway/otlp/'],
  '@elastic/elasticsearch': ['shared/log-store/elasticsearch/'],
  '@opentelemetry/api': ['deploy/server/tracer.ts'],
  '@opentelemetry/sdk-trace': ['deploy/server/tracer.ts'],
}

interface Import {
  readonly file: string
  readonly target: string
  /** Whether it is of types alone, so that nothing of it is left at run time. */
  readonly isType: boolean
}

const sources = LAYERS.flatMap((layer) =>
  readdirSync(join(ROOT, layer), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/node_modules|(^|\/)\.?dist/.test(name))
    .map((name) => join(layer, name)),
)

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

const imports: readonly Import[] = sources.flatMap((file) =>
  [...read(file).matchAll(/((?:import|export)\s+type\s[^'"=]*)?(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
    ([, type, target = '']) => ({
      file,
      isType: type !== undefined,
      target: target.startsWith('.') ? relative(ROOT, normalize(join(ROOT, dirname(file), target))) : target,
    }),
  ),
)

/** The circles among nodes that edges lead between: the strongly connected components, by Tarjan's algorithm. */
function circlesOf(edges: readonly (readonly [from: string, to: string])[]): readonly (readonly string[])[] {
  const next = Map.groupBy(edges, ([from]) => from)
  const order = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []
  /** Gives the earliest node, by its number, that this one leads back to. */
  const visit = (node: string): number => {
    const number = order.size
    order.set(node, number)
    open.push(node)
    let earliest = number
    for (const [, to] of next.get(node) ?? [])
      if (!order.has(to)) earliest = Math.min(earliest, visit(to))
      else if (open.includes(to)) earliest = Math.min(earliest, order.get(to) ?? number)
    if (earliest === number) {
      const circle = open.splice(open.indexOf(node))
      if (circle.length > 1) circles.push(circle.toSorted())
    }
    return earliest
  }
  for (const node of next.keys()) if (!order.has(node)) visit(node)
  return circles
}

/** Imports of our own files, those of types included: a reader follows them all the same. */
const own = imports.filter(({ target }) => sources.includes(target))

/** A regular expression in code: what stands before it cannot end a value, so that it is no division. */
const PATTERN = /(?<=[=(,[:?>&|!{]\s*)\/(?![/*])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+)\/[a-z]*/g
/** A run of characters, and another one of the same that nothing need stand between: only optional parts and borders of groups. */
const ADJACENT_RUNS = (() => {
  const run = String.raw`(\[[^\]]*\]|\\[a-z]|\.)[*+]`
  const optional = String.raw`\((?:[^()]|\([^()]*\))*\)[?*]|(?:\\?[^()[\]\\*+?]|\[[^\]]*\])\?`
  const border = String.raw`\)[?*+]?|\((?:\?:)?`
  return new RegExp(String.raw`${run}(?:${optional}|${border})*\1[*+]`)
})()

const patterns = sources.flatMap((file) =>
  [...read(file).matchAll(PATTERN)].map(([, source = '']) => ({ file, source })),
)

describe('the tree', () => {
  test('the walk finds the code', () => {
    expect(sources.length).toBeGreaterThan(30)
    expect(imports.length).toBeGreaterThan(100)
  })

  test('imports go one way: deploy to gateway, consumers and views, and those to shared', () => {
    const crossings = imports.filter(({ file, target }) => {
      const from = file.split('/')[0] ?? ''
      const to = target.split('/')[0] ?? ''
      return LAYERS.includes(to) && to !== from && !ALLOWED[from]?.includes(to)
    })
    expect(crossings).toEqual([])
  })

  test('a circle is found, whatever leads into it and out of it', () => {
    const edges = ['ab', 'bc', 'cb', 'cd', 'de', 'ec', 'df', 'ga'].map(([from = '', to = '']) => [from, to] as const)
    expect(circlesOf(edges)).toEqual([['b', 'c', 'd', 'e']])
  })

  test('no file imports itself by way of others', () => {
    const circles = circlesOf(own.map(({ file, target }) => [file, target]))
    expect(circles).toEqual([])
  })

  test('no folder imports itself by way of others', () => {
    const circles = circlesOf(own.map(({ file, target }) => [dirname(file), dirname(target)]))
    expect(circles).toEqual([])
  })

  test('the client for TypeScript imports its own files, modules of Node in its transports, and what they plug into', () => {
    const folder = join(ROOT, 'clients/typescript/src')
    const foreign = readdirSync(folder).flatMap((file) =>
      [...readFileSync(join(folder, file), 'utf8').matchAll(/from '(?!\.\/[\w-]+\.ts')([^']+)'/g)].map(
        ([, target = '']) => `${file}: ${target}`,
      ),
    )
    expect(foreign).toEqual([
      'pino.ts: node:fs',
      'pino.ts: node:stream',
      'pino.ts: node:string_decoder',
      'pino.ts: node:worker_threads',
      'winston.ts: winston-transport',
    ])
  })

  test('only an adapter imports its driver', () => {
    const leaks = imports.filter(({ file, target }) => {
      const homes = DRIVERS[target]
      return homes !== undefined && !homes.some((home) => file.startsWith(home))
    })
    expect(leaks).toEqual([])
  })

  test('OpenTelemetry is loaded on demand alone', () => {
    const importers = sources.flatMap((file) => read(file).match(/.*'\.\/tracer\.ts'.*/g) ?? [])
    expect(importers.map((line) => line.trim())).toEqual([
      "import type { RunningTracer } from './tracer.ts'",
      "const { createTracer } = await import('./tracer.ts')",
    ])
  })

  test('only deploy imports an adapter', () => {
    const adapter = /^shared\/(journal|log-store)\/(sqlite|kafka|elasticsearch)\//
    const leaks = imports.filter(
      ({ file, target }) => adapter.test(target) && !file.startsWith('deploy/') && !adapter.test(file),
    )
    expect(leaks).toEqual([])
  })

  test('the server imports nothing of the page, and the page only types of the server and modules that run in a browser', () => {
    const isPage = (file: string): boolean => file.startsWith('views/web/')
    const runsInBrowser =
      /^(shared\/(runtime\/clock\.ts|contract\/|query\/)|views\/(flow-layout\/|pages\.ts|schemas\/list-parameters\.ts|details\/placeholders\.ts))/
    const crossings = imports.filter(({ file, target }) => isPage(file) !== isPage(target) && /\.tsx?$/.test(target))
    const types = crossings.filter(({ isType }) => isType)
    expect(crossings.filter(({ target }) => isPage(target))).toEqual([])
    expect(crossings.filter((one) => !one.isType && !runsInBrowser.test(one.target))).toEqual([])
    expect(types.filter(({ target }) => !runsInBrowser.test(target)).length).toBeGreaterThan(20)
  })

  test('the grammar and the contract do no I/O', () => {
    const pure = imports.filter(({ file }) => file.startsWith('shared/query/'))
    expect(pure.filter(({ target }) => target.startsWith('node:'))).toEqual([])
  })

  test('only the configuration reads the environment', () => {
    const readers = sources.filter((file) => read(file).includes('process.env'))
    expect(readers).toEqual(['shared/runtime/config.ts'])
  })

  test('only the clock asks for the time', () => {
    const askers = sources.filter((file) => /\bDate\.now\(/.test(read(file)))
    expect(askers).toEqual(['shared/runtime/clock.ts'])
  })

  test('no pattern can divide one run of characters among two, for which a long one would cost its square', () => {
    expect(patterns.map(({ file }) => file)).toEqual(
      expect.arrayContaining(['shared/http/media-type.ts', 'gateway/clef/clef.ts', 'shared/message-template.ts']),
    )
    expect(ADJACENT_RUNS.test(String.raw`[ \t]*(?:;[ \t]*x)?;?[ \t]*$`)).toBe(true)
    expect(ADJACENT_RUNS.test(String.raw`(?:x\s*)?\s+$`)).toBe(true)
    expect(ADJACENT_RUNS.test(String.raw`[ \t]*(?:;[ \t]*x)?(?:;[ \t]*)?$`)).toBe(false)
    expect(patterns.filter(({ source }) => ADJACENT_RUNS.test(source))).toEqual([])
  })

  test('production code knows no test mode', () => {
    expect(sources.filter((file) => read(file).includes('NODE_ENV'))).toEqual([])
  })
})
