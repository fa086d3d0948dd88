import { Router } from 'express'
import { topicName } from '../shared/contract/topics.ts'
import { createProxies } from '../shared/http/proxies.ts'
import type { Audit } from '../shared/journal/audit.ts'
import type { LogStoreReader } from '../shared/log-store/log-store.ts'
import type { RegistryFollower } from '../shared/registry/follower.ts'
import type { CoreServices, RoleParts } from '../shared/role.ts'
import { registerViews } from './api/register.ts'
import { createRefusalsFollower } from './refusals/ring.ts'
import { registerSession } from './session/register.ts'
import { createTickets } from './session/tickets.ts'
import type { Secrets } from './session/token.ts'
import { registerSite } from './site.ts'
import { registerTeam } from './team/register.ts'
import type { Watches } from './watches/watches.ts'

interface ViewsDeps extends CoreServices {
  readonly audit: Audit
  readonly knownRegistry: RegistryFollower['known']
  readonly store: LogStoreReader
  /** The secrets, at present, that sign the sessions of the page. */
  readonly secrets: () => Secrets
  readonly watches: Pick<Watches, 'book' | 'poster'>
  /** The address of this process if it is a gateway too; else undefined. */
  readonly ownGateway: (() => string) | undefined
}

/** The role that shows logs: the read API, the Team's settings and the page. */
export function createViews(deps: ViewsDeps): RoleParts {
  const { config, clock, secrets, ownGateway } = deps
  const basePath = config.BASE_PATH
  const here = ownGateway !== undefined
  const router = Router()
  const refusals = createRefusalsFollower({ ...deps, topic: topicName(config.TOPIC_PREFIX, 'refusals') })
  const proxies = createProxies(config.TRUSTED_PROXIES)
  const sessions = registerSession(router, { ...deps, basePath, proxies, secrets, refusals })
  const api = registerViews(router, { ...deps, refusals, teamOfSession: sessions.teamOf })
  registerTeam(router, {
    ...deps,
    proxies,
    refusals,
    quotas: config,
    teamOfSession: sessions.teamOf,
    keyOfSession: (headers) => sessions.read(headers)?.key.prefix,
    registryTopic: topicName(config.TOPIC_PREFIX, 'registry'),
    gate: api.gate,
    deadlineMs: config.READ_DEADLINE_MS,
    gateway: { url: config.GATEWAY_URL, here },
    access: {
      // A process that is a gateway too may not reach the address that clients use.
      url: ownGateway ?? (() => config.GATEWAY_INTERNAL_URL ?? config.GATEWAY_URL),
      tickets: createTickets(secrets, clock),
    },
  })
  registerSite(router, { basePath, gateway: config.GATEWAY_URL ?? (here ? 'here' : 'unknown') })
  const tails = { name: 'live tails', start: async () => {}, stop: async () => api.closeTails() }
  return { router, services: [refusals], streams: [tails] }
}
