import { afterEach, describe, expect, test, vi } from 'vitest'
import { detailsOf } from '../../../../views/details/details.ts'
import { applicationEntry } from './entries.ts'
import { HOSTILE } from './hostile.ts'

const MIB = 1024 * 1024

afterEach(() => {
  vi.restoreAllMocks()
})

/** Calls `work`; gives how many characters it read and wrote as JSON meanwhile. */
function jsonCharacters(work: () => void): number {
  let characters = 0
  const { stringify, parse } = JSON
  vi.spyOn(JSON, 'stringify').mockImplementation((...args: Parameters<typeof stringify>) => {
    const text = stringify(...args)
    characters += text?.length ?? 0
    return text
  })
  vi.spyOn(JSON, 'parse').mockImplementation((...args: Parameters<typeof parse>) => {
    characters += args[0].length
    return parse(...args)
  })
  work()
  vi.restoreAllMocks()
  return characters
}

describe('the details of an entry that is as large as it may be', () => {
  test.each(Object.keys(HOSTILE))('%s: are bounded, and are made without repeating it', (name) => {
    const entry = HOSTILE[name]?.() ?? applicationEntry()
    const size = JSON.stringify(entry).length
    let answer = ''
    const characters = jsonCharacters(() => {
      answer = JSON.stringify(detailsOf(entry))
    })
    expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(2 * MIB)
    expect(characters).toBeLessThanOrEqual(4 * size + 2 * MIB)
  })

  test('of a stack of scopes no more are looked at than are told of', () => {
    let looks = 0
    const scope = (index: number): object =>
      Object.defineProperty({}, 'a', {
        enumerable: true,
        get: () => {
          looks += 1
          return index
        },
      })
    const { scopes } = detailsOf(
      applicationEntry({ scopeData: { Scopes: Array.from({ length: 10_000 }, (_, i) => scope(i)) } }),
    )
    expect(scopes?.stack).toHaveLength(64)
    expect(scopes?.values[0]).toMatchObject({ text: '9999', hidden: { length: 63 } })
    // The command that sends the entry again needs each once.
    expect(looks).toBeLessThanOrEqual(10_000 + 3 * 64)
  })
})
