import { LEVELS } from '../../shared/contract/levels.ts'
import { createClient, type Item, type List } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { type Cursors, type Material, TEAMS } from './material.ts'
import { createRandom } from './random.ts'
import { textOf } from './values.ts'

/** Addresses of the running program. */
export interface Addresses {
  readonly gateway: string
  readonly views: string
}

const SEED = 1
const FLOWS = 40
const APPLICATION_LOGS = 240
const EVENT_LOGS = 120
const ENTRIES_A_BATCH = 60
const VISIBLE_WITHIN_MS = 60_000

/**
 * Stores the entries of the read-only Team, and collects material for requests from the responses. Fixed Idempotency-Keys and times make
 * everything the same in every run: ids, cursors and the order of lists. Only tail positions depend on the store.
 */
export async function prepare({ gateway, views }: Addresses): Promise<Material> {
  const { reads } = TEAMS
  const writer = createClient(gateway, reads.key)
  const reader = createClient(views, reads.key)
  const random = createRandom(SEED, 0)
  const time = (index: number): string => new Date(Date.UTC(2026, 0, 31, 9) + index * 61_000).toISOString()
  const common = (index: number) => ({
    level: LEVELS[index % LEVELS.length],
    environment: index % 3 === 0 ? 'Production' : 'Test',
    correlationKey: `flow-${index % FLOWS}`,
    timestamp: time(index),
  })
  const logEntries = Array.from({ length: APPLICATION_LOGS }, (_, index) => ({
    categoryName: `Acme.${['Orders', 'Billing.Jobs', 'Web'][index % 3]}`,
    message: `order ${index} ${textOf(random)}`,
    eventId: index,
    exception:
      index % 9 === 0 ? `System.Exception: ${textOf(random)}\n   at A.B(C c) in /src/x.cs:line ${index}` : null,
    scopeData: { RequestId: `0HN${index}`, '{OriginalFormat}': 'order {n} {text}', n: index, text: textOf(random, 4) },
    ...common(index),
  }))
  for (let at = 0; at < APPLICATION_LOGS; at += ENTRIES_A_BATCH) {
    const body = { uniqueIdentifier: reads.project, logEntries: logEntries.slice(at, at + ENTRIES_A_BATCH) }
    await accepted(writer.post('/api/ApplicationLogs/batch', body, { 'idempotency-key': `reads-${at}` }))
  }
  for (let index = 0; index < EVENT_LOGS; index += 1) {
    const payload =
      index % 2 === 0 ? textOf(random) : JSON.stringify({ order: { id: index, tags: [textOf(random, 2)] } })
    const body = { uniqueIdentifier: index % 3 === 0 ? reads.step : reads.event, payload, ...common(index) }
    await accepted(writer.post('/api/ExternalLogs', body, { 'idempotency-key': `reads-event-${index}` }))
  }
  const all = (path: string, count: number): Promise<readonly Item[]> =>
    eventually(async () => {
      const items = await reader.all(path)
      if (items.length < count) throw new Error(`${path} shows ${items.length} of ${count} entries`)
      return items
    }, VISIBLE_WITHIN_MS)
  const applications = await all('/api/application-logs', APPLICATION_LOGS)
  const events = await all('/api/event-logs', EVENT_LOGS)
  return {
    applicationIds: applications.map(({ id }) => id),
    eventIds: events.map(({ id }) => id),
    flows: Array.from({ length: FLOWS }, (_, index) => `flow-${index}`),
    cursors: await cursorsOf(views),
    assets: await assetsOf(views),
  }
}

async function accepted(answer: Promise<{ readonly success: boolean }>): Promise<void> {
  const { success } = await answer
  if (!success) throw new Error('the entries to read could not be stored')
}

async function cursorsOf(views: string): Promise<Cursors> {
  const reader = createClient(views, TEAMS.reads.key)
  const next = async (path: string): Promise<string> => {
    const { data } = await reader.get<List>(path)
    if (data.nextCursor === null) throw new Error(`${path} has no next page`)
    return data.nextCursor
  }
  const pages = (path: string) => Promise.all([3, 10, 25].map((limit) => next(`${path}limit=${limit}`)))
  return {
    desc: [...(await pages('/api/event-logs?')), ...(await pages('/api/application-logs?'))],
    asc: await pages('/api/application-logs?order=asc&'),
    flows: await pages('/api/flows?'),
    tail: await tailPlaces(views),
  }
}

/** The first position that each tail reports. */
async function tailPlaces(views: string): Promise<readonly string[]> {
  const places: string[] = []
  for (const path of ['/api/event-logs/tail', '/api/application-logs/tail', '/api/flows/flow-1/tail']) {
    const stop = new AbortController()
    const answer = await fetch(views + path, { headers: { 'x-api-key': TEAMS.reads.key }, signal: stop.signal })
    let text = ''
    for await (const piece of answer.body ?? []) {
      text += Buffer.from(piece).toString()
      const place = /^id: (\S+)$/m.exec(text)?.[1]
      if (place === undefined) continue
      places.push(place)
      break
    }
    stop.abort()
  }
  return places
}

/** Names of the asset files that the page's shell loads; a nonexistent name if the page is not built. */
async function assetsOf(views: string): Promise<readonly string[]> {
  const shell = await (await fetch(`${views}/`)).text()
  const names = [...shell.matchAll(/assets\/([\w.-]+)/g)].map(([, name = '']) => name)
  return names.length > 0 ? [...new Set(names)] : ['not-built.js']
}
