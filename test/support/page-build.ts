import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
const WEB = join(ROOT, 'views/web')
const SOURCES = [
  'views/web/**/*.{ts,tsx,css,html,svg}',
  // All that the page may import.
  '{views,shared}/**/*.ts',
  'package-lock.json',
]

/** Where the built page is. */
export const DIST = join(WEB, 'dist')

/** Builds the page where a source is newer than it, so that no test shows an old one. */
export function buildPage(): void {
  const builtAt = changedAt(join(DIST, 'index.html'))
  const newest = globSync(SOURCES, { cwd: ROOT })
    .filter((file) => !/^views\/web\/(\.?dist)/.test(file))
    .reduce((latest, file) => Math.max(latest, changedAt(join(ROOT, file))), 0)
  if (newest <= builtAt) return
  // Test files run beside one another, and each may find the page old: what is there stays whole until the new one takes its place.
  const made = join(WEB, `.dist-${process.pid}`)
  const old = join(WEB, `.dist-${process.pid}-old`)
  execFileSync(
    process.execPath,
    [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', WEB, '--outDir', made, '--logLevel', 'error'],
    {
      // Jest's own would make it a build for development.
      env: { ...process.env, NODE_ENV: 'production' },
    },
  )
  mkdirSync(DIST, { recursive: true })
  renameSync(DIST, old)
  renameSync(made, DIST)
  rmSync(old, { recursive: true })
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
