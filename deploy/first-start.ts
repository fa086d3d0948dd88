import { readFileSync } from 'node:fs'
import type { Clock } from '../shared/clock.ts'
import type { Journal } from '../shared/journal/journal.ts'
import type { Logger } from '../shared/logger.ts'
import { createRegistryAdmin } from '../shared/registry/admin.ts'
import { createDemo } from '../shared/registry/demo.ts'

export interface RegistrySetupDeps {
  readonly journal: Journal
  readonly topic: string
  readonly clock: Clock
  readonly logger: Logger
}

/** The registry file cannot be applied; the message lists everything that is wrong with it. */
export class RegistryFileError extends Error {
  override readonly name = 'RegistryFileError'
}

/** Applies the file that REGISTRY_FILE names. Throws a `RegistryFileError`, having changed nothing, where it has problems. */
export async function applyRegistryFile(file: string, { logger, ...deps }: RegistrySetupDeps): Promise<void> {
  const result = await createRegistryAdmin(deps).applyFile(read(file), { prune: false })
  if (result.outcome === 'applied') {
    logger.info({ file, changes: result.changes.length }, 'registry file applied')
    return
  }
  const problems = result.problems.map(({ line, message }) => `  - ${line === null ? '' : `line ${line}: `}${message}`)
  throw new RegistryFileError(`REGISTRY_FILE=${file} cannot be applied:\n${problems.join('\n')}`)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new RegistryFileError(`REGISTRY_FILE=${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/** Fills an empty registry with something to try; returns the new key, or null where there was a registry already. */
export const createFirstTeam = async (deps: RegistrySetupDeps): Promise<string | null> =>
  (await createDemo(deps))?.key ?? null
