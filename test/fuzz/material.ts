/** A Team of the run's registry. */
export interface TeamMaterial {
  readonly id: string
  readonly key: string
  readonly project: string
  readonly projectName: string
  readonly event: string
  readonly step: string
}

/** Cursors taken from real responses. */
export interface Cursors {
  readonly desc: readonly string[]
  readonly asc: readonly string[]
  readonly flows: readonly string[]
  readonly tail: readonly string[]
}

/** Parts of requests that only a running server knows, taken from its responses beforehand. */
export interface Material {
  /** Entries of the Team whose entries never change. */
  readonly eventIds: readonly string[]
  readonly applicationIds: readonly string[]
  readonly flows: readonly string[]
  readonly cursors: Cursors
  /** Names of the page's asset files. */
  readonly assets: readonly string[]
}

/** The host name in every request, so that the bytes do not depend on the port. */
export const HOST = 'sluice.test'

/** Signs the sessions; fixed, so that cookies are the same in every run. */
export const SESSION_SECRET = 'fuzz-session-secret-0123456789abcdef'

const team = (id: string, digit: string): TeamMaterial => ({
  id,
  key: `fz_${id}_${digit.repeat(3)}c0ffee0123456789abcdefABCDEF`.padEnd(35, 'x').slice(0, 35),
  project: `${digit.repeat(8)}-4f89-41d3-9a0c-0305e82c3301`,
  projectName: `Project of ${id}`,
  event: `${id}-placed`,
  step: `${id}-placed.pay`,
})

export const TEAMS = {
  /** Receives logs continuously. */
  main: team('main', '1'),
  /** Filled in advance and then never written to, so that reads return the same in every run. */
  reads: team('reads', '2'),
  /** Changes its settings. */
  changes: team('changes', '3'),
  /** Receives the attackers' entries. */
  attacks: team('attacks', '4'),
  /** Has as many Events as a Team can create, with the longest identifiers and names. */
  wide: team('wide', '5'),
} as const

/** Placeholder in requests for the id of the entry stored by the same case, with the same length. */
export const STORED_ID = '5707ed1d-0000-4000-8000-5707ed1d0000'

const WIDE_EVENTS = 500
const LONGEST = 1_000

/** The registry file of a run. */
export function registryOf(): string {
  const all = Object.values(TEAMS)
  const wide = Array.from({ length: WIDE_EVENTS }, (_, index) => ({
    identifier: `wide-${index}-`.padEnd(LONGEST, 'w'),
    team: TEAMS.wide.id,
    name: `Wide ${index} `.padEnd(LONGEST, '<'),
  }))
  return JSON.stringify({
    teams: [
      ...all.map(({ id, key }) => ({ id, name: `Team ${id}`, apiKeys: [key] })),
      { id: 'keyless', name: 'Without a key', apiKeys: [] },
    ],
    events: [
      ...all.map(({ id, event }) => ({ identifier: event, team: id, name: 'Placed' })),
      { identifier: 'keyless-placed', team: 'keyless', name: 'Placed' },
      ...wide,
    ],
    steps: all.map(({ id, event, step }) => ({ identifier: step, team: id, event, name: 'Pay', order: 1 })),
    projects: all.map(({ id, project, projectName }) => ({ id: project, team: id, name: projectName })),
  })
}
