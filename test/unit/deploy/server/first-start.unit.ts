import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { setUpRegistry } from '../../../../deploy/server/first-start.ts'
import { ROLES, type Role } from '../../../../deploy/server/roles.ts'
import { createAudit } from '../../../../shared/journal/audit.ts'
import type { Journal } from '../../../../shared/journal/journal.ts'
import { AUDIT_TOPIC, registryOnMemory, toldBy } from '../../../support/registry-topic.ts'
import { temporaryFolder } from '../../../support/sluice-process.ts'

/** A start on an empty registry: the new key and the registry after it. */
async function start(role: Role, file: string | null = null, setup = registryOnMemory()) {
  const { journal, topic, clock, admin } = setup
  const logger = pino({ level: 'silent' })
  const audit = createAudit({ journal, topic: AUDIT_TOPIC, clock, onFailure: () => undefined })
  const key = await setUpRegistry({ journal, topic, audit, clock, logger, role, config: { REGISTRY_FILE: file } })
  return { key, registry: await admin.read(), records: journal.recordsOf(topic), told: await toldBy(journal) }
}

describe('the first start', () => {
  test('of all roles in one process makes a Team, and gives the key that opens it', async () => {
    const { key, registry, told } = await start('all')
    const [team] = registry.teams()
    expect(registry.keyOpens(team?.id ?? '', key ?? '')).toBe(true)
    expect(told).toHaveLength(7)
    expect(told[0]).toMatchObject({ actor: { kind: 'server', id: null }, via: 'first start', outcome: 'success' })
  })

  test.each(ROLES.filter((role) => role !== 'all'))('of %s alone leaves the registry empty', async (role) => {
    expect(await start(role)).toMatchObject({ key: null, records: [] })
  })

  test.each(ROLES)('of %s with a registry file applies it, and makes no Team beside', async (role) => {
    const folder = temporaryFolder()
    const file = join(folder.path, 'registry.yaml')
    writeFileSync(file, 'teams: [{ id: payments, name: Payments }]')
    const { key, registry, told } = await start(role, file)
    folder.remove()
    expect({ key, teams: registry.teams().map(({ id }) => id) }).toEqual({ key: null, teams: ['payments'] })
    expect(told).toMatchObject([{ via: 'REGISTRY_FILE', subject: { kind: 'team', id: 'payments' } }])
  })

  test('with a registry file that another process keeps undoing says so', async () => {
    const setup = registryOnMemory()
    const append: Journal['append'] = async (batch) => {
      await setup.journal.append(batch)
      if (batch.topic === setup.topic) await setup.admin.applyFile('teams: [{ id: a, name: Theirs }]', { prune: false })
    }
    const folder = temporaryFolder()
    const file = join(folder.path, 'registry.yaml')
    writeFileSync(file, 'teams: [{ id: a, name: Ours }]')
    const started = start('all', file, { ...setup, journal: { ...setup.journal, append } })
    await expect(started).rejects.toThrow(
      /cannot be applied:\n {2}- another process changed the registry at the same time/,
    )
    folder.remove()
  })
})
