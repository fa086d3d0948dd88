import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../support/sluice-process.ts'

const ROOT = join(import.meta.dirname, '../..')
const SUITE = 'journal-kafka.contract'

describe('a run of the tests on a machine without Docker and Maven', () => {
  /** Runs a suite that needs a broker where the servers' programs are neither cached nor can be fetched. */
  const runSuite = async (settings: Record<string, string>): Promise<{ code: number | null; printed: string }> => {
    const cache = temporaryFolder()
    const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', SUITE], {
      cwd: ROOT,
      env: {
        PATH: dirname(process.execPath),
        XDG_CACHE_HOME: cache.path,
        TEST_BACKENDS: 'jvm',
        NO_COLOR: '1',
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    cache.remove()
    return { code, printed: out + err }
  }

  test('skips what needs servers, and says what was not proved and why', async () => {
    const { code, printed } = await runSuite({})
    expect(printed).toMatch(/NOT PROVED, no real servers: .*\(Java: .+\)/)
    expect(printed).toMatch(/Tests +1 skipped \(1\)/)
    expect(code).toBe(0)
  })

  test('fails with REQUIRE_BACKENDS=1', async () => {
    const { code, printed } = await runSuite({ REQUIRE_BACKENDS: '1' })
    expect(printed).toMatch(/NOT PROVED, no real servers: .*\(Java: .+\)/)
    expect(printed).toMatch(/Tests +1 failed \(1\)/)
    expect(code).toBe(1)
  })

  test('fails at once where TEST_BACKENDS names no provider', async () => {
    const { code, printed } = await runSuite({ TEST_BACKENDS: 'podman' })
    expect(printed).toContain('TEST_BACKENDS is podman; it takes docker or jvm')
    expect(code).toBe(1)
  })
})
