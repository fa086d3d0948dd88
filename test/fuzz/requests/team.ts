import type { Draft, Header } from '../draft.ts'
import { inBytes } from '../draft.ts'
import { HOST, TEAMS } from '../material.ts'
import { NAMES, textOf } from '../values.ts'
import { type Context, headersOf } from './context.ts'
import { escaped } from './reads.ts'

const { changes, reads } = TEAMS

interface Call {
  readonly method: string
  readonly path: string
  /** The path as named in reports. */
  readonly route: string
  readonly json?: unknown
}

/** Reads or changes the settings of a Team that is used for nothing else. */
export function teamRequest(context: Context): Draft {
  const { random } = context
  const { method, path, route, json } = random.weighted<(context: Context) => Call>([
    [6, look],
    [2, create],
    [2, change],
    [1, search],
    [1, key],
  ])(context)
  const isRead = method === 'GET' || method === 'HEAD'
  const type: readonly Header[] = json === undefined ? [] : [['Content-Type', 'application/json']]
  const origin: readonly Header[] = isRead ? [] : [['Origin', `http://${HOST}`]]
  return {
    role: 'views',
    route: `${method} ${route}`,
    dialect: 'view',
    method,
    target: inBytes(path),
    version: 'HTTP/1.1',
    headers: headersOf(context, isRead ? reads : changes, [...origin, ...type]),
    ...(json !== undefined && { value: json }),
    mutations: [],
    torn: false,
  }
}

function look({ random }: Context): Call {
  const method = random.oneIn(8) ? 'HEAD' : 'GET'
  const [kind, id] = random.pick([
    ['events', reads.event],
    ['steps', reads.step],
    ['projects', reads.project],
  ] as const)
  return random.pick<Call>([
    { method, path: '/api/team', route: '/api/team' },
    { method, path: '/api/team/lists', route: '/api/team/lists' },
    { method, path: '/api/team/searches', route: '/api/team/searches' },
    { method, path: '/api/team/watches', route: '/api/team/watches' },
    { method, path: `/api/team/watches/${id}`, route: '/api/team/watches/:id' },
    { method, path: `/api/team/${kind}/${id}/snippets`, route: `/api/team/${kind}/:id/snippets` },
    { method, path: `/api/team/${kind}/-/snippets?identifier=${id}`, route: `/api/team/${kind}/:id/snippets` },
  ])
}

/** Few names, as created items stay; a repeated name is refused. */
const nameOf = ({ random }: Context): string => `made-${random.int(150)}`

function create(context: Context): Call {
  const { random } = context
  const name = random.oneIn(3) ? textOf(random, 3) : 'Made'
  return random.pick<Call>([
    {
      method: 'POST',
      path: '/api/team/events',
      route: '/api/team/events',
      json: { identifier: nameOf(context), name },
    },
    {
      method: 'POST',
      path: '/api/team/steps',
      route: '/api/team/steps',
      json: { identifier: `${nameOf(context)}.step`, name, event: changes.event, order: random.between(1, 9) },
    },
    {
      method: 'POST',
      path: '/api/team/projects',
      route: '/api/team/projects',
      json: { name, id: `5eed0000-4f89-41d3-9a0c-000000000${100 + random.int(150)}` },
    },
    {
      method: 'POST',
      path: '/api/team/searches',
      route: '/api/team/searches',
      json: { name: nameOf(context), page: 'event-logs', params: { q: textOf(random, 3), from: 'now-7d' } },
    },
    {
      method: 'POST',
      path: '/api/team/watches',
      route: '/api/team/watches',
      json: {
        name: nameOf(context),
        condition: random.pick([
          { type: 'count', list: 'event-logs', params: { q: textOf(random, 3) }, more: random.int(10), minutes: 5 },
          { type: 'flows', state: 'failed', event: null },
          { type: 'newGroup', by: 'exception', params: {} },
          { type: textOf(random, 1) },
        ]),
        // One address that is refused before anything is sent, and one that does not exist.
        webhook: {
          url: random.pick(['https://127.0.0.1/', 'https://nobody.invalid/', textOf(random, 2)]),
          format: 'json',
        },
        paused: random.oneIn(2),
      },
    },
    { method: 'POST', path: '/api/team/sample-flow', route: '/api/team/sample-flow', json: {} },
  ])
}

function change(context: Context): Call {
  const { random } = context
  const [kind, id] = random.pick([
    ['events', changes.event],
    ['events', nameOf(context)],
    ['steps', `${nameOf(context)}.step`],
    ['projects', changes.project],
    ['events', random.pick(NAMES)],
  ] as const)
  const json = random.pick<unknown>([
    { name: textOf(random, 3) },
    { archived: random.oneIn(2) },
    { order: random.between(1, 9), event: changes.event },
    {},
  ])
  return { method: 'PATCH', path: `/api/team/${kind}/${escaped(id)}`, route: `/api/team/${kind}/:id`, json }
}

/** A saved search that may have been deleted. */
function search({ random }: Context): Call {
  const [path, route] = [`/api/team/searches/${random.pick([reads.project, 'x'])}`, '/api/team/searches/:id']
  return random.oneIn(2)
    ? { method: 'DELETE', path, route }
    : { method: 'PATCH', path, route, json: { name: textOf(random, 3) } }
}

function key({ random }: Context): Call {
  if (random.oneIn(2))
    return { method: 'POST', path: '/api/team/keys', route: '/api/team/keys', json: { revokeOld: random.oneIn(3) } }
  const prefix = random.pick([changes.key.slice(0, 6), 'sl_', textOf(random, 1)])
  return { method: 'DELETE', path: `/api/team/keys/${escaped(prefix)}`, route: '/api/team/keys/:id' }
}
