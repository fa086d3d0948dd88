import { describe, expect, test, vi } from 'vitest'
import { makeThreadNicer } from '../../../../../shared/runtime/threads/niceness.ts'

const set = vi.fn<(pid: number, priority?: number) => void>()

/** The niceness that is set for a thread that has `present`; undefined where none is. */
function setFor(present: number, platform: NodeJS.Platform): number | undefined {
  set.mockClear()
  makeThreadNicer(10, { getPriority: () => present, setPriority: set }, platform)
  return set.mock.calls[0]?.[1]
}

describe('the niceness of a thread', () => {
  test('is raised', () => {
    expect(setFor(0, 'linux')).toBe(10)
    expect(setFor(-5, 'linux')).toBe(10)
  })

  test('is never taken back, which is not allowed: a start with `nice -n 15` would fail', () => {
    expect(setFor(15, 'linux')).toBeUndefined()
    expect(setFor(10, 'linux')).toBeUndefined()
  })

  test('stays as it is where it is that of the process', () => {
    expect(setFor(0, 'darwin')).toBeUndefined()
  })
})
