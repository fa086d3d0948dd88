import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFile } from '../../../../shared/runtime/read-file.ts'
import { temporaryFolder } from '../../../support/sluice-process.ts'

const MIB = 1024 * 1024

test('a file is read to its end, up to a size, and a device without an end is none', () => {
  const folder = temporaryFolder()
  const file = join(folder.path, 'file')
  const content = Buffer.alloc(2 * MIB, 'é')
  writeFileSync(file, content)
  expect(readFile(file, 2 * MIB).equals(content)).toBe(true)
  expect(readFile('/dev/null')).toHaveLength(0)
  expect(() => readFile(file, MIB)).toThrow('it has more than 1 MiB')
  expect(() => readFile('/dev/zero', MIB)).toThrow('it has more than 1 MiB')
  expect(() => readFile(folder.path)).toThrow('EISDIR')
  folder.remove()
})
