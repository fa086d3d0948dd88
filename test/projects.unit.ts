import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Interleaved, PROJECTS } from '../vitest.config.ts'

const ROOT = join(import.meta.dirname, '..')
const FILES = globSync('test/**/*.{unit,contract,int,e2e,fault}.ts', { cwd: ROOT })

const projectsOf = (file: string): readonly string[] => {
  const isIn = (globs: readonly string[]): boolean => globs.some((glob) => matchesGlob(file, glob))
  return PROJECTS.filter(({ include, exclude = [] }) => isIn(include) && !isIn(exclude)).map(({ name }) => name)
}

describe('the projects of vitest.config.ts', () => {
  test('every test file belongs to exactly one', () => {
    expect(FILES.length).toBeGreaterThan(200)
    expect(FILES.filter((file) => projectsOf(file).length !== 1)).toEqual([])
  })

  test('a file that needs servers or a browser is in a project that has them', () => {
    const using = (name: string): readonly string[] =>
      FILES.filter((file) => readFileSync(join(ROOT, file), 'utf8').includes(`${name}(`))
    const [needServers, needBrowser] = [using('await describeWithBackends'), using('describeWithBrowser')]
    expect([needServers.length, needBrowser.length]).not.toContain(0)
    expect(needServers.filter((file) => !['servers', 'long'].includes(projectsOf(file)[0] ?? ''))).toEqual([])
    expect(needBrowser.filter((file) => !['page', 'servers'].includes(projectsOf(file)[0] ?? ''))).toEqual([])
  })

  test('each part of a run has as many files of a project as the others, and together they have each file once', async () => {
    const files = FILES.flatMap((file) => projectsOf(file).map((name) => ({ moduleId: file, project: { name } })))
    const parts = await Promise.all(
      [1, 2, 3, 4, 5].map((index) =>
        new Interleaved({ config: { shard: { index, count: 5 } } } as never).shard(files as never),
      ),
    )
    expect(parts.flatMap((part) => part.map(({ moduleId }) => moduleId)).toSorted()).toEqual(FILES.toSorted())
    for (const { name } of PROJECTS) {
      const counts = parts.map((part) => part.filter(({ project }) => project.name === name).length)
      expect(Math.max(...counts) - Math.min(...counts), name).toBeLessThanOrEqual(1)
    }
  })

  test('of the projects are spread evenly over a run, each project by its own order, and those of heavy and fast end it', async () => {
    const config = { isolate: true, sequence: { groupOrder: 0 } }
    const [servers, page, heavy, fast] = ['servers', 'page', 'heavy', 'fast'].map((name) => ({ name, config }))
    const durations: Record<string, number> = {
      a: 900,
      b: 20,
      c: 10,
      d: 9_000,
      e: 500,
      f: 400,
      g: 300,
      h: 10,
      i: 1,
      j: 5,
    }
    const context = {
      projects: [servers, page, heavy, fast],
      cache: {
        getTestSpecificationResult: ({ moduleId }: { moduleId: string }) => ({ duration: durations[moduleId] }),
      },
    }
    const of = (project: object | undefined, names: string): object[] =>
      [...names].map((moduleId) => ({ project, moduleId }))
    const files = [...of(fast, 'ad'), ...of(heavy, 'ij'), ...of(page, 'bh'), ...of(servers, 'cefg')]
    const sorted = await new Interleaved(context as never).sort(files as never)
    expect(sorted.map(({ moduleId }) => moduleId).join('')).toBe('befhgcjida')
  })
})
