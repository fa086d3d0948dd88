import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSluice, temporaryFolder } from '../support/sluice-process.ts'
import type { Role } from './draft.ts'
import { registryOf, SESSION_SECRET } from './material.ts'
import { supervise } from './supervised.ts'
import type { Target, TargetOptions } from './target.ts'

/** The heap limit of each process, as in a small container. */
const HEAP_MIB = 384

export const SETTINGS = {
  NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
  LOG_LEVEL: 'error',
  OTLP_GRPC_PORT: '0',
  SESSION_SECRET,
} as const

/** A single process with all roles, in its own folder. */
export async function startEmbedded(options: TargetOptions): Promise<Target> {
  const folder = temporaryFolder()
  const registryFile = join(folder.path, 'registry.yaml')
  writeFileSync(registryFile, registryOf())
  const settings = { ...SETTINGS, DATA_DIR: join(folder.path, 'data'), REGISTRY_FILE: registryFile }
  const server = await supervise(
    'sluice',
    () => startSluice(settings, [], { root: options.root, ownSession: true }),
    options,
  )
  const portOf = (role: Role): number => {
    const { url, grpcUrl } = server.process()
    return Number(new URL(role === 'grpc' ? grpcUrl : url).port)
  }
  return {
    port: portOf,
    processes: () => [{ name: server.name, pid: server.process().pid, port: portOf('gateway') }],
    deaths: server.deaths,
    up: server.up,
    complaints: server.complaints,
    stop: async () => {
      await server.stop()
      folder.remove()
    },
  }
}
