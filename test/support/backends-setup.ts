import type { TestProject } from 'vitest/node'
import { chosenProviders } from './backends-choice.ts'
import { startBackendsHost } from './backends-host.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of the host of the servers that test files share. */
    backendsUrl: string
  }
}

/** Runs once before all test files, and costs nothing until one of them asks for servers. Gives the teardown, which ends the servers. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const host = await startBackendsHost(chosenProviders(process.env['TEST_BACKENDS']))
  provide('backendsUrl', host.url)
  return () => host.close()
}
