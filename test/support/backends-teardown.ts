import type { BackendsHost } from './backends-host.ts'

/** Runs once after all test files: ends the servers that they started. */
export default async function teardown(): Promise<void> {
  await (globalThis as { backendsHost?: BackendsHost }).backendsHost?.close()
}
