import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { buildPage, DIST } from '../../../support/page-build.ts'

const KIB = 1024

/** Bytes of all the page's files with this ending, as a server sends them. */
const sizeOf = (ending: string): number =>
  files(ending).reduce((sum, name) => sum + gzipSync(readFileSync(join(DIST, 'assets', name)), { level: 9 }).length, 0)

const files = (ending: string): readonly string[] =>
  readdirSync(join(DIST, 'assets')).filter((name) => name.endsWith(ending))

describe('the built page', () => {
  beforeAll(buildPage)

  test('is at most 40 KiB of script', () => {
    expect(files('.js')).toHaveLength(1)
    expect(sizeOf('.js')).toBeLessThanOrEqual(40 * KIB)
  })

  test('is at most 10 KiB of style', () => {
    expect(files('.css')).toHaveLength(1)
    expect(sizeOf('.css')).toBeLessThanOrEqual(10 * KIB)
  })

  test('names nothing of another origin', () => {
    const texts = ['index.html', ...[...files('.js'), ...files('.css')].map((name) => `assets/${name}`)].map((name) =>
      readFileSync(join(DIST, name), 'utf8'),
    )
    const named = texts.flatMap((text) => [...text.matchAll(/https?:\/\/[\w.-]+/g)].map(([address]) => address))
    // Names of namespaces, and of hosts that can be nobody's (RFC 2606), are no addresses that anything is loaded from.
    expect(named.filter((address) => !/^http:..www.w3.org$|[.]example$/.test(address))).toEqual([])
  })
})
