import { randomUUID } from 'node:crypto'
import type { AuditOrigin } from '../../shared/contract/audit.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import type { Audit } from '../../shared/journal/audit.ts'
import { createRegistryAdmin } from '../../shared/registry/admin.ts'
import { appendChanges, type RegistryAdminDeps, readState } from '../../shared/registry/journal-access.ts'
import { generateKey } from '../../shared/registry/keys.ts'
import { newKeyRecord } from '../../shared/registry/plan-keys.ts'
import { isEmpty, type RegistryRecord } from '../../shared/registry/records.ts'
import { problemText } from '../../shared/registry/yaml-reader.ts'
import type { CoreServices } from '../../shared/role.ts'
import type { Config } from '../../shared/runtime/config.ts'
import { readFile } from '../../shared/runtime/read-file.ts'
import type { Role } from './roles.ts'

interface RegistrySetupDeps extends Pick<CoreServices, 'journal' | 'clock' | 'logger'> {
  readonly role: Role
  readonly config: Pick<Config, 'REGISTRY_FILE'>
  readonly topic: string
  readonly audit: Audit
}

/** The registry file cannot be applied; the message lists everything that is wrong with it. */
class RegistryFileError extends Error {
  override readonly name = 'RegistryFileError'
}

/**
 * Applies the file that REGISTRY_FILE names; without one, a process with all roles fills an empty registry with a Team to try. Returns that
 * Team's new key, or else null. A single role makes no such Team: its banner shows no key, and roles that start together would each make
 * one. Throws a `RegistryFileError`, having changed nothing, if the file has problems.
 */
export async function setUpRegistry({ role, config, ...deps }: RegistrySetupDeps): Promise<string | null> {
  if (config.REGISTRY_FILE !== null) {
    await applyRegistryFile(config.REGISTRY_FILE, deps)
    return null
  }
  if (role !== 'all') return null
  return createDemo({ ...deps, audited: deps.audit(originOf('first start')) })
}

/**
 * Fills an empty registry with a Team to try Sluice with, and returns its key, which is not stored; returns null, and changes nothing, if
 * the registry is not empty.
 */
export async function createDemo(deps: RegistryAdminDeps): Promise<string | null> {
  const state = await readState(deps)
  if (!isEmpty(state)) return null
  const team = 'demo'
  const event = 'order-placed'
  const key = generateKey()
  const steps = ['Validate', 'Charge', 'Ship'].map(
    (name, index): RegistryRecord => ({
      kind: 'step',
      id: `${event}.${name.toLowerCase()}`,
      value: { team, event, name, order: index + 1 },
    }),
  )
  const changes: RegistryRecord[] = [
    { kind: 'team', id: team, value: { name: 'Demo' } },
    newKeyRecord(team, key, timestampOf(deps.clock.now())),
    { kind: 'event', id: event, value: { team, name: 'Order placed' } },
    ...steps,
    { kind: 'project', id: randomUUID(), value: { team, name: 'Checkout API' } },
  ]
  await appendChanges(deps, changes, state)
  return key
}

const originOf = (via: string): AuditOrigin => ({ actor: { kind: 'server', id: null, key: null }, via, from: null })

type FileDeps = Omit<RegistrySetupDeps, 'role' | 'config'>

async function applyRegistryFile(file: string, { logger, audit, ...deps }: FileDeps): Promise<void> {
  const admin = createRegistryAdmin({ ...deps, audited: audit(originOf('REGISTRY_FILE')) })
  const result = await admin.applyFile(read(file), { prune: false })
  if (result.outcome === 'applied') {
    logger.info({ file, changes: result.changes.length }, 'registry file applied')
    return
  }
  const problems = result.problems.map(problemText)
  if (result.outcome === 'disturbed') problems.unshift('another process changed the registry at the same time')
  const lines = problems.map((problem) => `  - ${problem}`)
  throw new RegistryFileError(`REGISTRY_FILE=${file} cannot be applied:\n${lines.join('\n')}`)
}

function read(file: string): string {
  try {
    return readFile(file).toString()
  } catch (error) {
    throw new RegistryFileError(`REGISTRY_FILE=${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}
