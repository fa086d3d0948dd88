import express from 'express'
import { expect, test } from 'vitest'
import { refuseUnknownPaths } from '../../../../deploy/http/unknown-path.ts'
import { createListener } from '../../../../shared/http/listener.ts'
import { createLogger } from '../../../../shared/runtime/logger.ts'
import { startBare } from '../../../support/raw-http.ts'

const PATHS = [
  '/logs/api/ExternalLogs',
  '/logs/api/ApplicationLogs',
  '/logs/api/ApplicationLogs/batch',
  '/logs/ingest/json',
  '/logs/ingest/otlp/v1/logs',
  '/logs/v1/logs',
]
const LIST = '/logs/docs lists all paths.'

async function told(path: string, method = 'POST'): Promise<readonly [status: number, message: string]> {
  const unknown = refuseUnknownPaths(PATHS, LIST)
  const { port, close } = await startBare(createListener(express(), createLogger('silent', 'test'), undefined, unknown))
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method })
    const { error } = (await response.json()) as { readonly error: { readonly message: string } }
    return [response.status, error.message]
  } finally {
    await close()
  }
}

test.each([
  ['whose beginning was left out', '/api/ExternalLogs', '/logs/api/ExternalLogs'],
  ['of which only the end was given', '/v1/logs?strict=1', '/logs/v1/logs'],
  ['that a client has appended once more', '/logs/v1/logs/v1/logs', '/logs/v1/logs'],
  ['that another prefix was given to', '/sluice/logs/api/externallogs/', '/logs/api/ExternalLogs'],
  ['that goes on', '/logs/api/ApplicationLogs/batch/new', '/logs/api/ApplicationLogs/batch'],
  ['that was mistyped', '/logs/ingest/jsn', '/logs/ingest/json'],
])('a path %s is refused with the one that is meant', async (_what, path, meant) => {
  expect(await told(path)).toEqual([404, `There is nothing here. Check the path (perhaps ${meant} is meant); ${LIST}`])
})

test.each(['/', '/api', '/elsewhere/entirely', `/${'x'.repeat(10_000)}`])(
  'a path that is like none is refused with where all are listed',
  async (path) => {
    expect(await told(path)).toEqual([404, `There is nothing here. Check the path; ${LIST}`])
  },
)

test.each(['traces', 'metrics'])('%s of OpenTelemetry are refused with how to switch them off', async (signal) => {
  const [status, message] = await told(`/logs/v1/${signal}`)
  expect([status, message]).toEqual([404, expect.stringContaining('set OTEL_TRACES_EXPORTER=none')])
})
