import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import config from '../jest.config.ts'
import SlowestFirst, { SLOWEST_FIRST } from './support/slowest-first.ts'

const ROOT = join(import.meta.dirname, '..')
const FILES = globSync('test/**/*.{unit,contract,int,e2e,fault}.ts', { cwd: ROOT })

const projectsOf = (file: string): readonly string[] =>
  config.projects
    .filter(({ testMatch }) => {
      const has = (glob: string): boolean => matchesGlob(`/${file}`, glob)
      const [excluded, included] = [
        testMatch.filter((glob) => glob[0] === '!'),
        testMatch.filter((glob) => glob[0] !== '!'),
      ]
      return included.some(has) && !excluded.some((glob) => has(glob.slice(1)))
    })
    .map(({ displayName }) => displayName)

describe('the projects of jest.config.ts', () => {
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
    expect(SLOWEST_FIRST.toSorted()).toEqual(config.projects.map(({ displayName }) => displayName).toSorted())
    const sequencer = new SlowestFirst({ contexts: [], globalConfig: {} } as never)
    const file = (project: string, size: number): object => ({
      path: `${project} ${size}`,
      context: { config: { cache: false, displayName: { name: project } }, hasteFS: { getSize: () => size } },
    })
    const files = [file('fast', 900), file('page', 20), file('servers', 10), file('fast', 9_000), file('servers', 500)]
    const sorted = await sequencer.sort(files as never)
    expect(sorted.map(({ path }) => path)).toEqual(['servers 500', 'servers 10', 'page 20', 'fast 9000', 'fast 900'])
  })
})
