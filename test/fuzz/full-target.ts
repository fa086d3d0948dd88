import { type FullStackOptions, type Part, startFullStack } from '../support/full-stack.ts'
import { SETTINGS } from './embedded-target.ts'
import { registryOf } from './material.ts'
import { type Supervised, supervise } from './supervised.ts'
import type { Target, TargetOptions } from './target.ts'

const ROLES = ['gateway', 'views', 'consumers'] as const

/** Gateway, views and consumers as three processes on these servers, with their own topic and index names. */
export async function startFull(
  servers: Pick<FullStackOptions, 'brokers' | 'elasticsearchUrl'>,
  options: TargetOptions,
): Promise<Target> {
  const start = { root: options.root, ownSession: true }
  const stack = await startFullStack({ ...servers, registry: registryOf(), settings: SETTINGS, start })
  const parts = new Map<string, Supervised>()
  for (const role of ROLES) parts.set(role, await supervisePart(role, stack[role], options))
  const all = [...parts.values()]
  const portOf = (part: Supervised | undefined): number => Number(new URL(part?.process().url ?? '').port)
  const grpcPort = (): number => Number(new URL(parts.get('gateway')?.process().grpcUrl ?? '').port)
  return {
    port: (role) => (role === 'grpc' ? grpcPort() : portOf(parts.get(role))),
    processes: () => all.map((part) => ({ name: part.name, pid: part.process().pid, port: portOf(part) })),
    deaths: () => all.reduce((sum, part) => sum + part.deaths(), 0),
    up: async () => void (await Promise.all(all.map((part) => part.up()))),
    complaints: () => all.flatMap((part) => part.complaints()),
    stop: async () => {
      await Promise.all(all.map((part) => part.stop()))
      await stack.stop()
    },
  }
}

/** Starts supervising a part, which is already running. */
function supervisePart(name: string, part: Part, options: TargetOptions): Promise<Supervised> {
  let isRunning = true
  const start = async () => {
    if (!isRunning) await part.start()
    isRunning = false
    return part.process()
  }
  return supervise(name, start, options)
}
