import { type Dirent, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { type PreparedBody, prepareBody } from '../shared/http/prepared-body.ts'

/** A file of the page, ready to be sent. */
export interface Asset {
  readonly body: PreparedBody
  /** Whether the file name contains a content hash, so that the file may be cached forever. */
  readonly hashed: boolean
}

export interface BuiltPage {
  /** index.html before anything is inserted. */
  readonly shell: string
  /** The files that the shell loads, by name. */
  readonly assets: ReadonlyMap<string, Asset>
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Vite's file names: a name, a hash of eight characters, an extension. */
const HASHED = /-[\w-]{8}\.\w+$/

/** Reads the output of `npm run build`, some tens of KiB; undefined if there is none. */
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
  return [[name, { body: prepareBody(type, () => bytes), hashed: HASHED.test(name) }]]
}
