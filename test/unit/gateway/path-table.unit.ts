import { expect, test } from '@jest/globals'
import { createPathTable } from '../../../gateway/path-table.ts'

const TABLE = { '/api/ExternalLogs': 'events', '/api/ApplicationLogs/batch': 'batch' }

test.each([
  ['/', '/api/ExternalLogs', 'events'],
  ['/', '/API/externallogs', 'events'],
  ['/', '/api/ExternalLogs/', 'events'],
  ['/', '/api/ExternalLogs?a=/b', 'events'],
  ['/', '/api/ApplicationLogs/batch#x', 'batch'],
  ['/', 'http://elsewhere.example/api/ExternalLogs?x=1', 'events'],
  ['/logs', '/logs/api/ExternalLogs', 'events'],
  ['/Logs/', '/logs/api/externallogs/', 'events'],
  ['/logs', '/api/ExternalLogs', undefined],
  ['/', '/api/ExternalLogs//', undefined],
  ['/', '/api/ExternalLog', undefined],
  ['/', '/api/Application%4cogs/batch', undefined],
  ['/', '*', undefined],
  ['/', '', undefined],
  ['/', '/constructor', undefined],
])('below %s the target %s is served by %s', (basePath, target, served) => {
  expect(createPathTable(basePath, TABLE)(target)).toBe(served)
})
