import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from '@jest/globals'
import { type Backend, type BackendProvider, BackendUnavailableError } from '../../stack/backend.ts'
import { chosenProviders, startFirst } from '../../support/backends-choice.ts'
import { temporaryFolder } from '../../support/sluice-process.ts'

const ROOT = join(import.meta.dirname, '../../..')
const SUITE = 'journal-kafka.contract'
const BACKEND = { addresses: ['127.0.0.1:9092'] } as unknown as Backend

describe('where real servers come from', () => {
  const namesOf = (setting: string | undefined): readonly string[] => chosenProviders(setting).map(({ name }) => name)

  test('containers, else processes of Java; TEST_BACKENDS keeps to one of them', () => {
    expect(namesOf(undefined)).toEqual(['Docker', 'Java'])
    expect(namesOf('')).toEqual(['Docker', 'Java'])
    expect(namesOf('docker')).toEqual(['Docker'])
    expect(namesOf('jvm')).toEqual(['Java'])
    expect(() => namesOf('podman')).toThrow('TEST_BACKENDS is podman; it takes docker or jvm')
  })

  const provider = (name: string, start: () => Backend, asked: string[] = []): BackendProvider => {
    const answer = async (kind: string): Promise<Backend> => {
      asked.push(`${name} ${kind}`)
      return start()
    }
    return { name, startKafka: () => answer('kafka'), startElasticsearch: () => answer('elasticsearch') }
  }
  const unavailable = (reason: string) => (): never => {
    throw new BackendUnavailableError(reason)
  }

  test.each(['kafka', 'elasticsearch'] as const)(
    '%s: the second is asked only where the first cannot',
    async (kind) => {
      const asked: string[] = []
      const second = provider('Java', () => BACKEND, asked)
      const able = [provider('Docker', () => BACKEND, asked), second]
      expect(await startFirst(able, kind, { brokers: 1 })).toBe(BACKEND)
      expect(asked).toEqual([`Docker ${kind}`])
      const unable = [provider('Docker', unavailable('no engine'), asked), second]
      expect(await startFirst(unable, kind, { brokers: 1 })).toBe(BACKEND)
      expect(asked.slice(1)).toEqual([`Docker ${kind}`, `Java ${kind}`])
    },
  )

  test('where none can, the error has the reason of each', async () => {
    const none = [provider('Docker', unavailable('no engine')), provider('Java', unavailable('no mvn'))]
    const started = startFirst(none, 'kafka', { brokers: 1 })
    await expect(started).rejects.toBeInstanceOf(BackendUnavailableError)
    await expect(started).rejects.toThrow('Docker: no engine; Java: no mvn')
  })

  test('a server that does not come up is a failure; the next provider does not hide it', async () => {
    const broken = provider('Docker', () => {
      throw new Error('the broker ended')
    })
    const started = startFirst([broken, provider('Java', () => BACKEND)], 'kafka', { brokers: 1 })
    await expect(started).rejects.toThrow('the broker ended')
  })
})

describe('a run of the tests on a machine without Docker and Maven', () => {
  /** Runs a suite that needs a broker where the servers' programs are neither cached nor can be fetched. */
  const runSuite = async (settings: Record<string, string>): Promise<{ code: number | null; printed: string }> => {
    const cache = temporaryFolder()
    const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning']
    const child = spawn(process.execPath, [...flags, 'node_modules/jest/bin/jest.js', SUITE], {
      cwd: ROOT,
      env: { PATH: dirname(process.execPath), XDG_CACHE_HOME: cache.path, TEST_BACKENDS: 'jvm', ...settings },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [printed, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    cache.remove()
    return { code, printed }
  }

  test('skips what needs servers, and says what was not proved and why', async () => {
    const { code, printed } = await runSuite({})
    expect(printed).toMatch(/NOT PROVED, no real servers: .*\(Java: .+\)/)
    expect(printed).toMatch(/Tests: +1 skipped, 1 total/)
    expect(code).toBe(0)
  })

  test('fails with REQUIRE_BACKENDS=1', async () => {
    const { code, printed } = await runSuite({ REQUIRE_BACKENDS: '1' })
    expect(printed).toMatch(/NOT PROVED, no real servers: .*\(Java: .+\)/)
    expect(printed).toMatch(/Tests: +1 failed, 1 total/)
    expect(code).toBe(1)
  })

  test('fails at once where TEST_BACKENDS names no provider', async () => {
    const { code, printed } = await runSuite({ TEST_BACKENDS: 'podman' })
    expect(printed).toContain('TEST_BACKENDS is podman; it takes docker or jvm')
    expect(code).toBe(1)
  })
})
