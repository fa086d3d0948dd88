import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestProject } from 'vitest/node'
import { type Backend, type BackendProvider, BackendUnavailableError } from '../stack/backend.ts'
import { jvmProvider } from '../stack/jvm.ts'
import { dockerProvider } from './backends-docker.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of the host of shared servers. */
    backendsUrl: string
  }
}

/** Runs once before all test files; servers are only started when one is requested. Returns the teardown, which stops them. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const host = await startBackendsHost(chosenProviders(process.env['TEST_BACKENDS']))
  provide('backendsUrl', host.url)
  return () => host.close()
}

interface Request {
  readonly kind?: 'kafka' | 'elasticsearch'
  readonly options?: unknown
  readonly id?: string
  readonly node?: number
}

/** Nobody may kill them, so that their data need not outlive them: files of a disk take them a fifth of their CPU time. */
const SHARED = { brokers: 1, inMemory: true }

interface BackendsHost {
  readonly url: string
  close(): Promise<void>
}

/**
 * Starts servers on demand for the test files of one run, and stops them at its end. Test files run in short-lived worker processes, so
 * they use HTTP. Shared servers run until the end; a file's own servers stop when it releases them.
 */
async function startBackendsHost(providers: readonly BackendProvider[]): Promise<BackendsHost> {
  const backends = new Map<string, Promise<Backend>>()
  let made = 0

  const started = async (id: string | undefined): Promise<Backend> => {
    const backend = backends.get(id ?? '')
    if (backend === undefined) throw new Error(`there are no servers ${id}`)
    return backend
  }
  const start = async ({ kind = 'kafka', options }: Request) => {
    const shared = options === 'shared'
    const id = shared ? `shared-${kind}` : `${kind}-${++made}`
    const backend = backends.get(id) ?? startFirst(providers, kind, shared ? SHARED : options)
    backends.set(id, backend)
    return { id, addresses: (await backend).addresses }
  }
  const act = async (action: string, request: Request): Promise<unknown> => {
    const { id = '', node = 1 } = request
    switch (action) {
      case 'start':
        return start(request)
      case 'release':
        if (id.startsWith('shared-')) return null
        await (await started(id)).stop()
        backends.delete(id)
        return null
      case 'kill':
      case 'pause':
      case 'resume':
      case 'restart':
        if (id.startsWith('shared-')) throw new Error('shared servers must stay up; ask for servers of your own')
        await (await started(id))[action](node)
        return null
      default:
        throw new Error(`unknown action ${action}`)
    }
  }

  const server = createServer(async (request, response) => {
    // Test files send few requests, and a kept-alive connection could be closed just when it is reused.
    response.shouldKeepAlive = false
    try {
      const value = await act((request.url ?? '').slice(1), JSON.parse(await text(request)) as Request)
      response.end(JSON.stringify({ value }))
    } catch (error) {
      const unavailable = error instanceof BackendUnavailableError
      response.end(JSON.stringify({ error: unavailable ? error.message : String((error as Error).stack), unavailable }))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close()
      server.closeAllConnections()
      const all = await Promise.allSettled(backends.values())
      await Promise.all(all.map((each) => (each.status === 'fulfilled' ? each.value.stop() : undefined)))
    },
  }
}

/** By the names that TEST_BACKENDS accepts, in order of preference. */
const PROVIDERS: ReadonlyMap<string, BackendProvider> = new Map([
  ['docker', dockerProvider],
  ['jvm', jvmProvider],
])

/**
 * Containers if Docker is available, else local Java processes; TEST_BACKENDS limits the choice to one. Throws if the setting names
 * neither.
 */
export function chosenProviders(setting: string | undefined): readonly BackendProvider[] {
  if (setting === undefined || setting === '') return [...PROVIDERS.values()]
  const provider = PROVIDERS.get(setting)
  if (provider === undefined) {
    throw new Error(`TEST_BACKENDS is ${setting}; it takes ${[...PROVIDERS.keys()].join(' or ')}`)
  }
  return [provider]
}

/**
 * Starts servers by the first provider that is available. Rejects with a `BackendUnavailableError` that contains every provider's reason if
 * none is; a failure of an available provider is an error, not a reason to try the next.
 */
export async function startFirst(
  providers: readonly BackendProvider[],
  kind: 'kafka' | 'elasticsearch',
  options: unknown,
): Promise<Backend> {
  const reasons: string[] = []
  for (const provider of providers) {
    try {
      return kind === 'kafka'
        ? await provider.startKafka(options as Parameters<BackendProvider['startKafka']>[0])
        : await provider.startElasticsearch(options as Parameters<BackendProvider['startElasticsearch']>[0])
    } catch (error) {
      if (!(error instanceof BackendUnavailableError)) throw error
      reasons.push(`${provider.name}: ${error.message}`)
    }
  }
  throw new BackendUnavailableError(reasons.join('; '))
}
