import type { BackendProvider } from '../../deploy/stack/backend.ts'
import { jvmProvider } from '../../deploy/stack/jvm.ts'
import { dockerProvider } from './backends-docker.ts'
import { type BackendsHost, startBackendsHost } from './backends-host.ts'

const PROVIDERS: Readonly<Record<string, BackendProvider>> = { docker: dockerProvider, jvm: jvmProvider }

/**
 * Runs once before all test files; costs nothing until one of them asks for servers. TEST_BACKENDS=docker or =jvm keeps to one
 * provider.
 */
export default async function setup(): Promise<void> {
  const only = process.env['TEST_BACKENDS']
  const host = await startBackendsHost(
    only === undefined ? Object.values(PROVIDERS) : [PROVIDERS[only]].filter((provider) => provider !== undefined),
  )
  process.env['TEST_BACKENDS_URL'] = host.url
  ;(globalThis as Globals).backendsHost = host
  // Jest ends on a signal without running its teardown.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void host.close().finally(() => process.exit(1))
    })
  }
}

interface Globals {
  backendsHost?: BackendsHost
}
