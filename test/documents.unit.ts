import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'

const ROOT = join(import.meta.dirname, '..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

describe('the README', () => {
  test('every file that it names is there', () => {
    const named = [
      ...README.matchAll(/`((?:deploy|gateway|consumers|views|shared|test|docs|bench)\/[\w./-]+)`|\]\(([\w./-]+)\)/g),
    ]
    const paths = named.map(([, code, link]) => code ?? link ?? '')
    expect(paths.length).toBeGreaterThan(25)
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })

  test('its commands are scripts of the package', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const code = [...README.matchAll(/```sh\n([^`]*)```|`(npm [^`]+)`/g)].map(
      ([, block, inline]) => block ?? inline ?? '',
    )
    const named = code
      .flatMap((text) => [...text.matchAll(/npm (?:run )?([a-z:]+)/g)].map(([, name = '']) => name))
      .filter((name) => name !== 'ci')
    expect(named).toContain('start')
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  })
})
