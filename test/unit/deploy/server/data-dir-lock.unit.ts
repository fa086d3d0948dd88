import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lockDataDir } from '../../../../deploy/server/data-dir-lock.ts'
import { temporaryFolder } from '../../../support/sluice-process.ts'

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
