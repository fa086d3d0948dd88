import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { buildPage, DIST } from '../../../support/page-build.ts'

const KIB = 1024

/** Bytes of these files of the page together, as a server sends them. */
const sizeOf = (names: Iterable<string>): number => {
  let bytes = 0
  for (const name of names) bytes += gzipSync(readFileSync(join(DIST, name)), { level: 9 }).length
  return bytes
}

/** What Vite says of a piece of the page: its file, and the pieces that are fetched with it. */
interface Piece {
  readonly file: string
  readonly imports?: readonly string[]
}

const manifest = (): Readonly<Record<string, Piece>> =>
  JSON.parse(readFileSync(join(DIST, '.vite', 'manifest.json'), 'utf8')) as Readonly<Record<string, Piece>>

/** The scripts that a browser fetches for these pieces. */
function scriptsOf(...names: readonly string[]): ReadonlySet<string> {
  const pieces = manifest()
  const scripts = new Set<string>()
  const add = (name: string): void => {
    const piece = pieces[name]
    if (piece === undefined) throw new Error(`the page has no piece ${name}`)
    if (scripts.has(piece.file)) return
    scripts.add(piece.file)
    piece.imports?.forEach(add)
  }
  names.forEach(add)
  return scripts
}

const files = (ending: string): readonly string[] =>
  readdirSync(join(DIST, 'assets')).filter((name) => name.endsWith(ending))

describe('the built page', () => {
  beforeAll(buildPage)

  test.each(['logs/logs-page', 'flow/flows-page', 'flow/flow-page', 'team/team-page', 'refused/refused-page'])(
    'is at most 40 KiB of script for %s, all that is fetched until it is shown',
    (page) => {
      expect(sizeOf(scriptsOf('index.html', `${page}.tsx`))).toBeLessThanOrEqual(40 * KIB)
    },
  )

  test('is at most 16 KiB of script for the sign-in', () => {
    expect(sizeOf(scriptsOf('index.html'))).toBeLessThanOrEqual(16 * KIB)
  })

  test('is at most 10 KiB of style', () => {
    const [sheet, ...more] = files('.css')
    expect(more).toEqual([])
    expect(sizeOf([`assets/${sheet}`])).toBeLessThanOrEqual(10 * KIB)
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
