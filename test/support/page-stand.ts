import { accepted, type Client, createClient } from './api.ts'
import type { Browse } from './browser.ts'
import { startFullStack } from './full-stack.ts'
import type { OpenOptions, OpenPage } from './open-page.ts'
import { STAGES } from './page-flow.ts'
import { untilTotal } from './page-logs.ts'
import { buildPage, startWithRegistry } from './page-server.ts'

/** A Sluice on which the page's scenarios run: embedded, or as three processes on Kafka and Elasticsearch. */
export interface Stand {
  /** The addresses of the page, and of the gateway. */
  readonly page: string
  readonly gateway: string
  /** Stops the server of the page, and restarts it at the same address. */
  stopPage(): Promise<void>
  startPage(): Promise<void>
  close(): Promise<void>
}

/** A Team of the stand. Each scenario and each of its tries has its own, so that none sees another's logs. */
export interface StandTeam {
  readonly id: string
  readonly name: string
  readonly key: string
  /** Its Event, the Event's Steps in order, and its Projects. */
  readonly event: string
  readonly steps: readonly string[]
  readonly project: string
  readonly otherProject: string
}

const STEPS = ['Validate', 'Charge', 'Ship', 'Deliver']

const TEAM_IDS = [
  'entrance',
  'lists',
  'entries',
  'flows',
  'owners',
  'senders',
  'newcomers',
  'readers',
  'rivals',
  'members',
] as const
type TeamId = (typeof TEAM_IDS)[number]
export type Teams = Readonly<Record<TeamId, StandTeam>>

/** How often vitest tries a test of the page. */
const TRIES = 3

const guid = (team: number, project: number): string => `3f2504e0-4f89-11d3-9a0c-0305e82c${10 + team}0${project}`

function teamOf(id: string, index: number): StandTeam {
  const event = `${id}.order`
  return {
    id,
    name: `Team of ${id}`,
    key: `sl_${id}-0123456789abcdef01234567`,
    event,
    steps: STEPS.map((name) => `${event}.${name.toLowerCase()}`),
    project: guid(index, 1),
    otherProject: guid(index, 2),
  }
}

/** The Teams of each try. */
const TEAMS = Array.from(
  { length: TRIES },
  (_, retry) =>
    Object.fromEntries(
      TEAM_IDS.map((id, index) => [id, teamOf(retry === 0 ? id : `${id}-${retry}`, retry * TEAM_IDS.length + index)]),
    ) as Teams,
)

/** The Teams of a try, given the number of those before it. */
export function teamsOf(retry: number): Teams {
  const teams = TEAMS[retry]
  if (teams === undefined) throw new Error(`a scenario has Teams for ${TRIES} tries`)
  return teams
}

const quoted = (values: Record<string, string | number>): string =>
  `  - { ${Object.entries(values)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ')} }`

const all = TEAMS.flatMap((teams) => Object.values(teams))
const importers = TEAMS.map(({ flows }) => flows)
const REGISTRY = [
  'teams:',
  ...all.map(({ id, name, key }) => `  - { id: ${id}, name: ${name}, apiKeys: ["${key}"] }`),
  'events:',
  ...all.map(({ id, event }) => quoted({ identifier: event, team: id, name: 'Order placed' })),
  ...importers.map(({ id }) => quoted({ identifier: `${id}.import`, team: id, name: 'Nightly import' })),
  'steps:',
  ...all.flatMap(({ id, event, steps }) =>
    steps.map((identifier, index) =>
      quoted({ identifier, team: id, event, name: STEPS[index] ?? '', order: index + 1 }),
    ),
  ),
  ...importers.flatMap(({ id }) =>
    Array.from({ length: STAGES }, (_, index) => {
      const event = `${id}.import`
      return quoted({ identifier: `${event}.${index}`, team: id, event, name: `Stage ${index}`, order: index + 1 })
    }),
  ),
  'projects:',
  ...all.flatMap(({ id, project, otherProject }) => [
    quoted({ id: project, team: id, name: 'Checkout API' }),
    quoted({ id: otherProject, team: id, name: 'Warehouse' }),
  ]),
].join('\n')

/** One process with SQLite. */
export async function startEmbeddedStand(): Promise<Stand> {
  const server = await startWithRegistry(REGISTRY, '')
  return {
    page: server.url,
    gateway: server.url,
    stopPage: server.stop,
    startPage: server.restart,
    close: server.close,
  }
}

/** Gateway, consumers and views as separate processes, on real servers. */
export async function startStackStand(brokers: readonly string[], elasticsearchUrl: string): Promise<Stand> {
  buildPage()
  const settings = { SESSION_SECRET: 'the same secret at gateway and page' }
  const stack = await startFullStack({ brokers, elasticsearchUrl, registry: REGISTRY, settings })
  const gateway = stack.gateway.url()
  const page = stack.views.url()
  const stopPage = async (): Promise<void> => {
    await stack.views.end('SIGTERM')
  }
  // The page has to know the gateway's address, whose port is only known now.
  const startPage = (): Promise<void> => stack.views.start({ PORT: new URL(page).port, GATEWAY_URL: gateway })
  await stopPage()
  await startPage()
  return { page, gateway, stopPage, startPage, close: () => stack.stop() }
}

/** Sends to the gateway, and reads from the page's server. */
export interface TeamClient extends Client {
  /** Sends an event log; `step` counts from 0, and is omitted for the Event itself. Returns its id. */
  event(fields: EventFields): Promise<string>
  /** Sends application logs of the first Project, in one batch. */
  applications(list: readonly Record<string, unknown>[]): Promise<void>
  /** Waits until this many logs that match the query are readable. */
  total(kind: 'event' | 'application', count: number, query?: string): Promise<void>
}

interface EventFields extends Record<string, unknown> {
  readonly step?: number
}

export function clientOf({ page, gateway }: Stand, team: StandTeam): TeamClient {
  const reader = createClient(page, team.key)
  const sender = createClient(gateway, team.key)
  return {
    ...reader,
    post: sender.post,
    event: ({ step, ...fields }) => {
      const uniqueIdentifier = step === undefined ? team.event : team.steps[step]
      return accepted(sender, '/api/ExternalLogs', {
        uniqueIdentifier,
        level: 'Information',
        payload: 'said',
        ...fields,
      })
    },
    applications: async (list) => {
      const logEntries = list.map((fields) => ({
        ...{ categoryName: 'Acme.Shop.Cart', message: 'said', level: 'Information' },
        ...fields,
      }))
      await accepted(sender, '/api/ApplicationLogs/batch', { uniqueIdentifier: team.project, logEntries })
    },
    total: (kind, count, query) => untilTotal(reader, kind, count, query),
  }
}

/** The server and the browser of scenarios. An error in a page's console, or a request to another origin, fails the test. */
export interface Stage extends Browse {
  stand(): Stand
  /** Those of the current try. */
  teams(): Teams
  /** Opens a page of the stand, signed in with the Team's key; it may read and write the clipboard. */
  show(team: StandTeam, path: string, options?: OpenOptions): Promise<OpenPage>
}

export const MINUTE = 60_000
