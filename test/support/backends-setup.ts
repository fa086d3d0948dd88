import type { TestProject } from 'vitest/node'
import { chosenProviders } from './backends-choice.ts'
import { startBackendsHost } from './backends-host.ts'

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
