import { attackPlan } from './attacks/attacks.ts'
import type { Draft } from './draft.ts'
import { routeOf, wireOf } from './draft.ts'
import { markOf } from './marks.ts'
import { type Material, STORED_ID, TEAMS } from './material.ts'
import { rendered } from './mutations/body.ts'
import { mutatedBytes } from './mutations/bytes.ts'
import { mutated } from './mutations/mutations.ts'
import { type End, labelOf, type Plan, plain, type Script, type Stage } from './plan.ts'
import { createRandom, type Random } from './random.ts'
import { type Context, headersOf } from './requests/context.ts'
import { applicationLog, batch, clef, eventLog, jsonLogs, otlp, otlpProtobuf } from './requests/ingestion.ts'
import { pageRequest } from './requests/pages.ts'
import { unreadable } from './requests/protocol.ts'
import { escaped, readRequest, strangeRead } from './requests/reads.ts'
import { session } from './requests/sessions.ts'
import { teamRequest } from './requests/team.ts'

type Templates = readonly (readonly [number, (context: Context) => Draft])[]

const TO_GATEWAY: Templates = [
  [28, eventLog],
  [36, applicationLog],
  [20, batch],
  [14, otlp],
  [14, otlpProtobuf],
  [14, clef],
  [14, jsonLogs],
]

const TO_VIEWS: Templates = [
  [14, readRequest],
  [12, strangeRead],
  [9, pageRequest],
  [2, session],
  [1, teamRequest],
]

const TEMPLATES: Templates = [...TO_GATEWAY, ...TO_VIEWS]

const ATTACK_ONE_IN = 500
const PIPELINED_MAX = 20
const CUTS_MAX = 30
const KEEP: End = { kind: 'keep' }

/** The case with this number: deterministic for a seed and material, independent of earlier calls. */
export function planOf(seed: number, number: number, material: Material, withAttacks: boolean): Plan {
  const random = createRandom(seed, number)
  const context = (place: number): Context => ({ random, material, mark: markOf(number, place) })
  // Drawn first in every case, so that all other cases are the same with and without attacks.
  if (random.oneIn(ATTACK_ONE_IN) && withAttacks) return attackPlan(number, context(0))
  return random.weighted<() => Plan>([
    [900, () => single(number, context(0))],
    [100, () => pipelined(number, context)],
    [30, () => storedAndRead(number, context(0))],
    [8, () => planOfScript(number, unreadable(context(0)))],
  ])()
}

const draftOf = (context: Context, templates = TEMPLATES): Draft =>
  rendered(mutated(context.random.weighted(templates)(context), context.random))

function single(number: number, context: Context): Plan {
  const { random } = context
  const draft = draftOf(context)
  const wire = wireOf(draft)
  if (!random.oneIn(50)) return planOfScript(number, delivered(draft, wire, random))
  const [name, damaged] = mutatedBytes(wire, random)
  const torn = { ...draft, torn: true, mutations: [...draft.mutations, `wire: ${name}`] }
  return planOfScript(number, delivered(torn, damaged, random))
}

const planOfScript = (number: number, script: Script, label?: string): Plan => ({
  number,
  label: label ?? script.requests.map(labelOf).join(),
  stages: [{ scripts: [script], untilFound: false }],
})

/** Sends the bytes of a request, whole or in pieces, and keeps, closes or breaks the connection. */
function delivered(draft: Draft, wire: Buffer, random: Random): Script {
  const whole = plain(wire, draft, endOf(draft, random))
  if (random.oneIn(150)) {
    const part = wire.subarray(0, random.int(wire.length))
    return { ...plain(part, { ...draft, torn: true }), end: brokenOff(random) }
  }
  if (!random.oneIn(15)) return whole
  const cuts = Array.from({ length: random.size(CUTS_MAX) }, () => random.int(wire.length)).sort(
    (one, other) => one - other,
  )
  return { ...whole, cuts, pauseMs: random.oneIn(4) ? random.int(8) : 0 }
}

function endOf({ route, torn }: Draft, random: Random): End {
  if (route.endsWith('/tail')) return { kind: 'read', forMs: random.between(20, 300) }
  if (torn) return { kind: 'close' }
  return random.weighted<End>([
    [100, KEEP],
    [1, { kind: 'close' }],
    [1, { kind: 'half-close' }],
    [1, { kind: 'break', afterMs: random.int(30) }],
    [1, { kind: 'leave', forMs: random.int(1_000) }],
  ])
}

/** Ends a connection in the middle of a request: half-closes it, breaks it, or leaves it open. */
const brokenOff = (random: Random): End =>
  random.pick<End>([
    { kind: 'half-close' },
    { kind: 'break', afterMs: random.int(100) },
    { kind: 'leave', forMs: random.int(3_000) },
  ])

/** Several pipelined requests, sent without waiting for responses. */
function pipelined(number: number, contextOf: (place: number) => Context): Plan {
  const { random } = contextOf(0)
  const templates = random.oneIn(4) ? TO_VIEWS : TO_GATEWAY
  const drafts = Array.from({ length: random.between(2, PIPELINED_MAX) }, (_, place) =>
    draftOf(contextOf(place), templates),
  )
  const [first] = drafts as [Draft]
  const intact = drafts.filter(
    ({ torn, role, route, headers }) =>
      !torn && role === first.role && !route.endsWith('/tail') && !headers.some(isConnection),
  )
  if (intact.length < 2) return planOfScript(number, plain(wireOf(first), first, endOf(first, random)))
  // An unreadable last request must not suppress the responses to those before it.
  const last = random.oneIn(4) ? [malformed(first)] : []
  const script: Script = {
    role: first.role,
    requests: [...intact, ...last],
    wire: Buffer.concat([...intact, ...last].map(wireOf)),
    cuts: [],
    pauseMs: 0,
    end: last.length > 0 ? { kind: 'close' } : KEEP,
    owed: intact.length,
  }
  return planOfScript(number, script, `${intact.length} pipelined${last.length > 0 ? ' and a malformed one' : ''}`)
}

const malformed = ({ role }: Draft): Draft => ({
  role,
  route: 'malformed',
  dialect: 'any',
  method: 'NO METHOD',
  target: '/',
  version: 'HTTP/1.1',
  headers: [],
  mutations: [],
  torn: true,
})

const isConnection = ([name]: readonly [string, string]): boolean => name === 'Connection'

/** Stores one entry, and reads it through the views. */
function storedAndRead(number: number, context: Context): Plan {
  const { random, mark } = context
  const [template, kind] = random.pick([
    [eventLog, 'event-logs'],
    [applicationLog, 'application-logs'],
  ] as const)
  const draft = rendered(mutated(template(context), random, 'structure'))
  const get = (path: string, dialect: Draft['dialect']): Script => {
    const read: Draft = {
      role: 'views',
      route: routeOf('GET', path),
      dialect,
      method: 'GET',
      target: path,
      version: 'HTTP/1.1',
      headers: headersOf(context, TEAMS.main),
      mutations: [],
      torn: false,
    }
    return plain(wireOf(read), read)
  }
  const one = `/api/${kind}/${STORED_ID}`
  const flow = `/api/flows/${escaped(`flow of ${mark}`)}`
  const found: Stage = { scripts: [get(`${one}/details`, 'view')], untilFound: true }
  const more = random.pick([
    get(one, 'view'),
    get(`${one}/context?before=3&after=3`, 'view'),
    get(`/api/${kind}/export?q=id:${STORED_ID}&format=csv`, 'export'),
    get(`/api/${kind}/export?q=id:${STORED_ID}`, 'export'),
    get(flow, 'view'),
    get(`${flow}/export?format=svg`, 'export'),
    get(`${flow}/export?format=csv`, 'export'),
  ])
  const stages: readonly Stage[] = [
    { scripts: [plain(wireOf(draft), draft)], untilFound: false },
    found,
    { scripts: [more], untilFound: false },
  ]
  return { number, label: `${labelOf(draft)}, then read`, stages }
}
