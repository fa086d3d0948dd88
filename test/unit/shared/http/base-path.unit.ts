import { expect, test } from 'vitest'
import { below } from '../../../../shared/http/base-path.ts'

test.each([
  ['/', '/docs/', '/docs/'],
  ['/logs', '/docs/', '/logs/docs/'],
  ['/', undefined, ''],
  ['/logs', undefined, '/logs'],
])('below %s the path %s is %j', (basePath, path, expected) => {
  expect(below(basePath, path)).toBe(expected)
})
