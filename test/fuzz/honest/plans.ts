import { type Draft, routeOf, wireOf, withHeader } from '../draft.ts'
import { markOf } from '../marks.ts'
import { HOST, type Material, TEAMS } from '../material.ts'
import { rendered } from '../mutations/body.ts'
import { labelOf, type Plan, plain } from '../plan.ts'
import { createRandom } from '../random.ts'
import type { Context } from '../requests/context.ts'
import { applicationLog, batch, eventLog } from '../requests/ingestion.ts'

/** A valid request to store entries, which is repeatable because of its Idempotency-Key. */
export function sendPlan(seed: number, number: number, material: Material): Plan {
  const random = createRandom(seed, number)
  const context: Context = { random, material, mark: markOf(number, 0) }
  const make = random.weighted([
    [4, eventLog],
    [4, applicationLog],
    [2, batch],
  ])
  const draft = make(context)
  return planOf(number, rendered({ ...draft, headers: withHeader(draft, 'Idempotency-Key', context.mark) }))
}

/** A list, a single entry by its id, or a search. */
export function readPlan(seed: number, number: number, material: Material): Plan {
  const random = createRandom(seed, number)
  const path = random.pick([
    () => '/api/event-logs?limit=50',
    () => '/api/application-logs?limit=50',
    () => `/api/event-logs/${random.pick(material.eventIds)}`,
    () => `/api/application-logs/${random.pick(material.applicationIds)}`,
    () => `/api/application-logs?limit=20&q=order+${random.int(240)}`,
  ])()
  return planOf(number, {
    role: 'views',
    route: routeOf('GET', path),
    dialect: 'view',
    method: 'GET',
    target: path,
    version: 'HTTP/1.1',
    headers: [
      ['Host', HOST],
      ['X-API-Key', TEAMS.reads.key],
    ],
    mutations: [],
    torn: false,
  })
}

const planOf = (number: number, draft: Draft): Plan => ({
  number,
  label: `honest ${labelOf(draft)}`,
  stages: [{ scripts: [plain(wireOf(draft), draft)], untilFound: false }],
})
