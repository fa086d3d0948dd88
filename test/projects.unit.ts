import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PROJECTS } from '../vitest.config.ts'
import { SlowestFirst } from './support/slowest-first.ts'

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
    expect(needServers.filter((file) => projectsOf(file)[0] !== 'servers')).toEqual([])
    expect(needBrowser.filter((file) => !['page', 'servers'].includes(projectsOf(file)[0] ?? ''))).toEqual([])
  })

  test('that need servers begin first, whatever the size of their files', async () => {
    const config = { isolate: true, sequence: { groupOrder: 0 } }
    const [servers, page, fast] = ['servers', 'page', 'fast'].map((name) => ({ name, config }))
    const durations: Record<string, number> = { a: 900, b: 20, c: 10, d: 9_000, e: 500 }
    const context = {
      projects: [servers, page, fast],
      cache: {
        getTestSpecificationResult: ({ moduleId }: { moduleId: string }) => ({ duration: durations[moduleId] }),
      },
    }
    const file = (project: object | undefined, moduleId: string): object => ({ project, moduleId })
    const files = [file(fast, 'a'), file(page, 'b'), file(servers, 'c'), file(fast, 'd'), file(servers, 'e')]
    const sorted = await new SlowestFirst(context as never).sort(files as never)
    expect(sorted.map(({ moduleId }) => moduleId)).toEqual(['e', 'c', 'b', 'd', 'a'])
  })
})
