import { describe, expect, test } from 'vitest'
import { type Backend, type BackendProvider, BackendUnavailableError } from '../../stack/backend.ts'
import { chosenProviders, startFirst } from '../../support/backends-host.ts'

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
