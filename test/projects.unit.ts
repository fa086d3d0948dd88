import { globSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import config from '../jest.config.ts'

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
})
