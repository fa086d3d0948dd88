import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test, vi } from 'vitest'
import { lockDataDir } from '../../../../deploy/server/data-dir-lock.ts'
import { temporaryFolder } from '../../../support/sluice-process.ts'

afterEach(() => void vi.unstubAllEnvs())

test.each([
  ['the data folder, where the usual one cannot be written', 'none', true],
  ['the usual folder', '.', false],
])('temporary files of SQLite are in %s', (_name, usual, isData) => {
  const folder = temporaryFolder()
  const other = new DatabaseSync(':memory:')
  vi.stubEnv('TMPDIR', join(folder.path, usual))
  try {
    lockDataDir(folder.path)()
    const set = other.prepare('PRAGMA temp_store_directory').get()
    expect(set).toEqual(isData ? { temp_store_directory: folder.path } : undefined)
  } finally {
    other.exec("PRAGMA temp_store_directory = ''")
    other.close()
    folder.remove()
  }
})

test('a folder whose lock cannot be written is refused, as no server would hold it', () => {
  const folder = temporaryFolder()
  const isRoot = process.getuid?.() === 0
  writeFileSync(join(folder.path, 'server.lock'), '', { mode: 0o444 })
  chmodSync(folder.path, 0o777)
  // Root may write every file.
  if (isRoot) process.seteuid?.(65_534)
  try {
    expect(() => lockDataDir(folder.path)).toThrow(
      /^DATA_DIR=\S+ cannot be used \(attempt to write a readonly database\)/,
    )
  } finally {
    if (isRoot) process.seteuid?.(0)
    folder.remove()
  }
})

test.each([
  ['a file', 'file', 'EEXIST'],
  ['below a file', 'file/below', 'ENOTDIR'],
  ['a folder whose lock is a folder', '.', 'unable to open database file'],
  ...(process.platform === 'linux' ? [['where no folder can be made', '/proc/sluice', 'ENOENT']] : []),
])('%s is refused: its path, the reason, and what is needed', (_name, path = '', reason) => {
  const folder = temporaryFolder()
  writeFileSync(join(folder.path, 'file'), '')
  mkdirSync(join(folder.path, 'server.lock'))
  const dataDir = resolve(folder.path, path)
  try {
    expect(() => lockDataDir(dataDir)).toThrow(
      new RegExp(`^DATA_DIR=${dataDir} cannot be used \\(${reason}.*; it must be a folder that .*user`),
    )
  } finally {
    folder.remove()
  }
})
