import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { describe, expect, test } from '@jest/globals'

const ROOT = join(import.meta.dirname, '..')
const LAYERS = ['shared', 'gateway', 'consumers', 'views', 'deploy']

/** Who may import whom; every folder may import itself. */
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
  '@elastic/elasticsearch': ['shared/log-store/elasticsearch/'],
}

interface Import {
  readonly file: string
  readonly target: string
}

const sources = LAYERS.flatMap((layer) =>
  readdirSync(join(ROOT, layer), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/node_modules|(^|\/)\.?dist/.test(name))
    .map((name) => join(layer, name)),
)

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

const imports: readonly Import[] = sources.flatMap((file) =>
  [...read(file).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, target = '']) => ({
    file,
    target: target.startsWith('.') ? relative(ROOT, normalize(join(ROOT, dirname(file), target))) : target,
  })),
)

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

  test('only an adapter imports its driver', () => {
    const leaks = imports.filter(({ file, target }) => {
      const homes = DRIVERS[target]
      return homes !== undefined && !homes.some((home) => file.startsWith(home))
    })
    expect(leaks).toEqual([])
  })

  test('only deploy imports an adapter', () => {
    const adapter = /^shared\/(journal|log-store)\/(sqlite|kafka|elasticsearch)\//
    const leaks = imports.filter(
      ({ file, target }) => adapter.test(target) && !file.startsWith('deploy/') && !adapter.test(file),
    )
    expect(leaks).toEqual([])
  })

  test('the server imports nothing of the page, and the page nothing of the server but what runs in a browser', () => {
    const isPage = (file: string): boolean => file.startsWith('views/web/')
    const crossings = imports.filter(({ file, target }) => isPage(file) !== isPage(target) && /\.tsx?$/.test(target))
    const shared = crossings.filter(({ file }) => isPage(file)).map(({ target }) => target)
    expect(crossings.filter(({ target }) => isPage(target))).toEqual([])
    expect(
      shared.filter(
        (target) =>
          !/^(shared\/(runtime\/clock|contract\/|query\/)|views\/(flow-layout\/|(pages|details\/(types|placeholders)|team\/types)\.ts))/.test(
            target,
          ),
      ),
    ).toEqual([])
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
      expect.arrayContaining(['shared/http/media-type.ts', 'gateway/clef/lines.ts', 'shared/message-template.ts']),
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
