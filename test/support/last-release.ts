import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './sluice-process.ts'

const ROOT = join(import.meta.dirname, '../..')

/** A checkout of the last release. */
export interface Release {
  readonly version: string
  readonly folder: string
  remove(): void
}

/**
 * The program as it was when its present version was given, from the history of this checkout, with the packages of today. Undefined where
 * there is no such history, as in a shallow clone or an archive.
 */
export function checkOutLastRelease(): Release | undefined {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const commit = findCommit(version)
  if (commit === undefined) return undefined
  const { path: folder, remove } = temporaryFolder()
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 256 * 1024 * 1024 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  execFileSync(process.execPath, ['views/web/build.js'], { cwd: folder })
  return { version, folder, remove }
}

/** The commit that wrote the version into package.json; in a shallow clone its first one seems to. */
function findCommit(version: string): string | undefined {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
  try {
    if (git('rev-parse', '--is-shallow-repository') === 'true') return undefined
    return git('log', '--format=%H', '-1', `-S"version": "${version}"`, '--', 'package.json') || undefined
  } catch {
    return undefined
  }
}
