import { expect, test } from 'vitest'
import { createPathTable } from '../../../gateway/path-table.ts'

const TABLE = { '/api/ExternalLogs': 'events', '/api/ApplicationLogs/batch': 'batch' }

const SERVED_IN_PROJECT = { '/v1/logs': (project: string) => `logs of ${project}` }

test.each([
  ['/', '/api/ExternalLogs', 'events'],
  ['/', '/API/externallogs', 'events'],
  ['/', '/api/ExternalLogs/', 'events'],
  ['/', '/api/ExternalLogs?a=/b', 'events'],
  ['/', '/api/ApplicationLogs/batch#x', 'batch'],
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
  expect(createPathTable(basePath, TABLE, SERVED_IN_PROJECT)(target)).toBe(served)
})

test.each([
  ['/', '/projects/Checkout%20API/v1/logs', 'logs of Checkout API'],
  ['/', '/Projects/Checkout%20API/V1/Logs/?a=/projects/x/v1/logs', 'logs of Checkout API'],
  ['/', '/projects/%C3%89t%C3%A9/v1/logs', 'logs of Été'],
  ['/', '/projects/a%2Fb%3F/v1/logs', 'logs of a/b?'],
  ['/logs', '/logs/projects/a/v1/logs', 'logs of a'],
  ['/projects/x', '/Projects/X/projects/a/v1/logs', 'logs of a'],
  ['/projects/x', '/projects/x/v1/logs', undefined],
  ['/logs', '/projects/a/v1/logs', undefined],
  ['/logs', '/logsprojects/a/v1/logs', undefined],
  ['/', '/projects//v1/logs', undefined],
  ['/', '/projects/v1/logs', undefined],
  ['/', '/projects/a/b/v1/logs', undefined],
  ['/', '/projects/a/projects/b/v1/logs', undefined],
  ['/', '/projects/a', undefined],
  ['/', '/projects/a/api/ExternalLogs', undefined],
  ['/', '/projects/a/constructor', undefined],
  ['/', '/projects/100%/v1/logs', 'logs of 100%'],
  ['/', '/projects/%ff/v1/logs', 'logs of %ff'],
])('below %s the target %s is served by %s, with a Project', (basePath, target, served) => {
  expect(createPathTable(basePath, TABLE, SERVED_IN_PROJECT)(target)).toBe(served)
})
