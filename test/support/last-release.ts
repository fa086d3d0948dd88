import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './sluice-process.ts'

const ROOT = join(import.meta.dirname, '../..')
const ARCHIVE_BYTES_MAX = 256 * 1024 * 1024

/** A checkout of the last release. */
export interface Release {
  readonly version: string
  readonly folder: string
  remove(): void
}

/**
 * The program as of the commit that set its present version, from this checkout's history, with today's packages. Undefined if that history
 * is missing, as in a shallow clone or an archive.
 */
export function checkOutLastRelease(): Release | undefined {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const archive = archiveOf(version)
  if (archive === undefined) return undefined
  const { path: folder, remove } = temporaryFolder()
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  execFileSync(process.execPath, ['views/web/build.js'], { cwd: folder })
  return { version, folder, remove }
}

/** The files of the commit that wrote the version into package.json; in a shallow clone the oldest commit would match wrongly. */
function archiveOf(version: string): Buffer | undefined {
  const git = (...args: string[]): Buffer =>
    execFileSync('git', args, { cwd: ROOT, maxBuffer: ARCHIVE_BYTES_MAX, stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    if (String(git('rev-parse', '--is-shallow-repository')).trim() === 'true') return undefined
    const commit = git('log', '--format=%H', '-1', `-S"version": "${version}"`, '--', 'package.json')
    return git('archive', String(commit).trim())
  } catch {
    return undefined
  }
}
