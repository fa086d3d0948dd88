import type { Entity, Registry, Team } from '../../shared/registry/registry.ts'

export const KEY = 'key-of-payments-0123456789abcdef'
export const OTHER_KEY = 'key-of-billing-0123456789abcdef0'
export const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
/** A Project whose Team has no key. */
export const KEYLESS_PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3302'

const KEYS: Readonly<Record<string, readonly string[]>> = { payments: [KEY], billing: [OTHER_KEY], keyless: [] }

const ENTITIES: readonly Entity[] = [
  { kind: 'event', identifier: 'order-placed', team: 'payments', name: 'Order placed' },
  { kind: 'step', identifier: 'order-placed.pay', team: 'payments', name: 'Pay', event: 'order-placed', order: 1 },
  { kind: 'step', identifier: 'lone-step', team: 'payments', name: 'Alone', event: null, order: 1 },
  { kind: 'event', identifier: 'orphan', team: 'gone', name: 'Its Team is gone' },
  { kind: 'event', identifier: 'keyless', team: 'keyless', name: 'Its Team has no key' },
]

const PROJECTS: Readonly<Record<string, string>> = { [PROJECT]: 'payments', [KEYLESS_PROJECT]: 'keyless' }

const ownerOf = (key: string): string | undefined => Object.keys(KEYS).find((team) => KEYS[team]?.includes(key))

const teamOf = (id = ''): Team | undefined => (KEYS[id] === undefined ? undefined : { id, name: id })

/** A registry of a few Teams; implements only what the gateway uses of the port. */
export function createGatewayRegistry(): Registry {
  const asked: Pick<
    Registry,
    'entity' | 'project' | 'team' | 'hasKey' | 'keyOpens' | 'teamOfKey' | 'formerTeamOfKey' | 'ownerOfKey'
  > = {
    entity: (identifier) => ENTITIES.find((entity) => entity.identifier === identifier),
    project: (id) => {
      const team = PROJECTS[id]
      return team === undefined ? undefined : { id, team, name: 'A Project' }
    },
    team: teamOf,
    hasKey: (team) => (KEYS[team]?.length ?? 0) > 0,
    keyOpens: (team, key) => KEYS[team]?.includes(key) === true,
    teamOfKey: (key) => teamOf(ownerOf(key)),
    formerTeamOfKey: () => undefined,
    ownerOfKey: ownerOf,
  }
  return asked as Registry
}
