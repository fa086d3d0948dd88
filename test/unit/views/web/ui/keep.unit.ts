import { afterEach, describe, expect, test, vi } from 'vitest'
import { keep, kept } from '../../../../../views/web/ui/keep.ts'

describe('preferences of the page', () => {
  /** A storage with what other pages of the origin left room for; without `stored`, the browser forbids its use. */
  function stubStorage(stored: Map<string, string> | undefined, isFull: boolean): void {
    const items = (): Map<string, string> => {
      if (stored === undefined) throw new DOMException('forbidden', 'SecurityError')
      return stored
    }
    vi.stubGlobal('localStorage', {
      getItem: (name: string) => items().get(name) ?? null,
      removeItem: (name: string) => items().delete(name),
      setItem: (name: string, value: string) => {
        if (isFull) throw new DOMException('full', 'QuotaExceededError')
        items().set(name, value)
      },
    })
  }

  afterEach(() => {
    vi.unstubAllGlobals()
  })

  test('outlast the page', () => {
    const stored = new Map<string, string>()
    stubStorage(stored, false)
    keep('density', 'compact')
    expect([kept('density'), [...stored.values()]]).toEqual(['compact', ['compact']])
    keep('density', undefined)
    expect([kept('density'), stored.size]).toEqual([undefined, 0])
  })

  test.each([
    ['may not be used', undefined],
    ['is full', new Map([['sluice.columns', 'message']])],
  ])('last as long as the page where the storage %s', (_state, stored) => {
    stubStorage(stored, true)
    keep('columns', 'message,scope.tenant')
    expect(kept('columns')).toBe('message,scope.tenant')
  })

  test('are stored again once the storage has room', () => {
    const stored = new Map<string, string>()
    stubStorage(stored, true)
    keep('environment', 'Staging')
    stubStorage(stored, false)
    keep('environment', 'Production')
    stored.set('sluice.environment', 'Test')
    expect(kept('environment')).toBe('Test')
  })
})
