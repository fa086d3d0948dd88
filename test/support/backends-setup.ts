import { chosenProviders } from './backends-choice.ts'
import { type BackendsHost, startBackendsHost } from './backends-host.ts'

/** Runs once before all test files; costs nothing until one of them asks for servers. */
export default async function setup(): Promise<void> {
  const host = await startBackendsHost(chosenProviders(process.env['TEST_BACKENDS']))
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
