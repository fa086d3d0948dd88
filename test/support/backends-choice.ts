import { type Backend, type BackendProvider, BackendUnavailableError } from '../stack/backend.ts'
import { jvmProvider } from '../stack/jvm.ts'
import { dockerProvider } from './backends-docker.ts'

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
