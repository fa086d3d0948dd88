import { type Dirent, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/** A file of the page, ready to be sent. */
export interface Asset {
  readonly type: string
  /** Whether its name changes with its content, so that it may be kept for ever. */
  readonly hashed: boolean
  /** The bytes by content coding, smallest first; `identity` is always there. */
  readonly bodies: ReadonlyMap<string, Buffer>
}

export interface BuiltPage {
  /** index.html before anything is put in. */
  readonly shell: string
  /** What the shell loads, by name. */
  readonly assets: ReadonlyMap<string, Asset>
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** What Vite writes: a name, a hash of eight characters, an ending. */
const HASHED = /-[\w-]{8}\.\w+$/

/** Reads what `npm run build` made; undefined where it was not run. Some tens of KiB, compressed here once. */
export function readBuiltPage(folder: string): BuiltPage | undefined {
  try {
    const shell = readFileSync(join(folder, 'index.html'), 'utf8')
    const files = readdirSync(join(folder, 'assets'), { withFileTypes: true }).filter((entry) => entry.isFile())
    return { shell, assets: new Map(files.flatMap((file) => assetOf(file))) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function assetOf({ name, parentPath }: Dirent): [string, Asset][] {
  const type = TYPES[extname(name)]
  if (type === undefined) return []
  const bytes = readFileSync(join(parentPath, name))
  const bodies = new Map([
    ['br', brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })],
    ['gzip', gzipSync(bytes, { level: 9 })],
    ['identity', bytes],
  ])
  return [[name, { type, hashed: HASHED.test(name), bodies }]]
}
