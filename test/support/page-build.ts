import { execFileSync } from 'node:child_process'
import { globSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const WEB = join(ROOT, 'views/web')
const SOURCES = [
  'views/web/**/*.{ts,tsx,css,html,svg}',
  // Everything that the page may import.
  '{views,shared}/**/*.ts',
  'package-lock.json',
]

/** The folder of the built page. */
export const DIST = join(WEB, 'dist')

/** Builds the page if a source is newer, so that no test uses an outdated one. */
export function buildPage(): void {
  const builtAt = changedAt(join(DIST, 'index.html'))
  const newest = globSync(SOURCES, { cwd: ROOT })
    .filter((file) => !/^views\/web\/(\.?dist)/.test(file))
    .reduce((latest, file) => Math.max(latest, changedAt(join(ROOT, file))), 0)
  if (newest <= builtAt) return
  // Concurrent test files may each find the page outdated: the existing one stays intact until the new one replaces it.
  const made = join(WEB, `.dist-${process.pid}`)
  const old = join(WEB, `.dist-${process.pid}-old`)
  execFileSync(
    process.execPath,
    [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', WEB, '--outDir', made, '--logLevel', 'error'],
    {
      // The test runner's own NODE_ENV would make it a development build.
      env: { ...process.env, NODE_ENV: 'production' },
    },
  )
  renameIfPossible(DIST, old)
  // Another test file may have replaced it in between.
  renameIfPossible(made, DIST)
  for (const left of [old, made]) rmSync(left, { recursive: true, force: true })
}

/** Renames a folder unless it is gone, or another one has the new name. */
function renameIfPossible(folder: string, name: string): void {
  try {
    renameSync(folder, name)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
  }
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
