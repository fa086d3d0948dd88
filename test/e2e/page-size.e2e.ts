import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildPage, DIST } from '../support/page-server.ts'

const KIB = 1024

/** Bytes of these files of the page together, as a server sends them. */
const sizeOf = (names: Iterable<string>): number => {
  let bytes = 0
  for (const name of names) bytes += gzipSync(readFileSync(join(DIST, 'assets', name)), { level: 9 }).length
  return bytes
}

const shell = (): string => readFileSync(join(DIST, 'index.html'), 'utf8')

const files = (ending: string): readonly string[] =>
  readdirSync(join(DIST, 'assets')).filter((name) => name.endsWith(ending))

describe('the built page', () => {
  beforeAll(buildPage)

  test('is at most 100 KiB of script, 60 KiB of which the first view needs', () => {
    expect(sizeOf(files('.js'))).toBeLessThanOrEqual(100 * KIB)
    expect(sizeOf(files('.js').filter((name) => shell().includes(name)))).toBeLessThanOrEqual(60 * KIB)
  })

  test('is at most 10 KiB of style', () => {
    const [sheet, ...more] = files('.css')
    expect(more).toEqual([])
    expect(sizeOf([`${sheet}`])).toBeLessThanOrEqual(10 * KIB)
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
