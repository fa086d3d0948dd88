import type { Random } from '../fuzz/random.ts'
import { KEY, PROJECT } from '../support/gateway.ts'
import { type Claim, INVALID, type Ledger, markIn, REFUSED_MARK } from './ledger.ts'
import { wait } from './network.ts'
import { type Answer, type Gateway, OTHER_PROJECT, type Request, type Site } from './processes.ts'

/** A request, and the mark of each of its entries. */
interface Draft {
  readonly request: Request
  readonly marks: readonly string[]
  readonly idempotencyKey: string | null
}

const PAUSE_MS = [50, 1_500] as const

/**
 * Sends requests one by one until all are answered correctly. A request with an Idempotency-Key is repeated until all of its entries are
 * accepted, and sometimes needlessly; one without is repeated if the answer says that nothing was written.
 */
export async function runClient(
  { network, world }: Site,
  name: string,
  gateways: readonly Gateway[],
  { ledger, requests }: { readonly ledger: Ledger; readonly requests: number },
): Promise<void> {
  const { random } = network

  async function send({ request, marks }: Draft): Promise<readonly Claim[]> {
    const answer = await random.pick(gateways).exchange(request)
    const claims = claimsOf(answer, marks.length, request.path)
    if (claims === undefined) world.find(`${name} was refused: ${(answer as Answer).body}`)
    const made = claims ?? marks.map(() => 'unknown' as const)
    for (const [index, mark] of marks.entries()) {
      const claim = made[index] as Claim
      ledger.claimed(mark, claim)
      if (mark.endsWith(INVALID) ? claim === 'accepted' : claim === 'refused')
        world.find(`${name} was told that ${mark} is ${claim}`)
    }
    world.note(`${name} ${marks[0]} ${request.path}: ${made.join(' ')}`)
    return made
  }

  async function persist(draft: Draft): Promise<void> {
    for (;;) {
      const copies = draft.idempotencyKey !== null && random.oneIn(6) ? 2 : 1
      const claims = (await Promise.all(Array.from({ length: copies }, () => send(draft)))).flat()
      const isDone = claims.every((claim) => claim === 'accepted' || claim === 'refused')
      const isSafe = draft.idempotencyKey !== null || claims.every((claim) => claim === 'not_written')
      if (!isSafe || (isDone && !random.oneIn(8))) return
      await wait(random.between(...PAUSE_MS))
    }
  }

  for (let number = 0; number < requests; number += 1) {
    await wait(random.int(random.pick([5, 100, 6_000])))
    const drafts = draftRequests(random, `${name}-${number}`)
    for (const { marks } of drafts) for (const mark of marks) ledger.sent(mark)
    await Promise.all(drafts.map(persist))
  }
}

/** Sends an entry that the store refuses, once and without an Idempotency-Key. */
export async function sendRefused({ network }: Site, gateway: Gateway, ledger: Ledger, mark: string): Promise<void> {
  await wait(network.random.int(10_000))
  ledger.sent(mark)
  const body = { uniqueIdentifier: 'order-placed', payload: `${mark} ${REFUSED_MARK}`, level: 'Error' }
  const answer = await gateway.exchange(requestOf('/api/ExternalLogs', JSON.stringify(body)))
  for (const claim of claimsOf(answer, 1, '/api/ExternalLogs') ?? []) ledger.claimed(mark, claim)
}

const requestOf = (path: string, body: string, headers: Record<string, string> = {}): Request => ({
  path,
  body,
  headers: { 'content-type': 'application/json', 'x-api-key': KEY, ...headers },
})

/** Usually one request; sometimes the same lines for two Projects with the same Idempotency-Key. */
function draftRequests(random: Random, name: string): readonly Draft[] {
  const idempotencyKey = random.oneIn(3) ? null : `key-${name}`
  const headers: Record<string, string> = idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }
  const level = random.pick(['Information', 'Warning', 'Error'])
  const nextKey = (): string | null => random.pick([null, 'order-1', 'order-2', 'order-3'])
  const uniqueIdentifier = random.pick(['order-placed', 'order-placed.pay', 'lone-step'])
  const marks = Array.from({ length: random.between(1, 6) }, (_, index) => `${name}.${index}`)
  const [first = ''] = marks
  const mixed = marks.map((mark) => (random.oneIn(4) ? mark + INVALID : mark))
  const entryOf = (mark: string) => {
    const message = mark.endsWith(INVALID) ? '' : mark
    return { categoryName: 'Shop', message, level, correlationKey: nextKey() }
  }
  const draft = (path: string, json: object, own: readonly string[]): readonly Draft[] => [
    { request: requestOf(path, JSON.stringify(json), headers), marks: own, idempotencyKey },
  ]
  switch (random.int(4)) {
    case 0:
      return draft('/api/ExternalLogs', { uniqueIdentifier, payload: first, level, correlationKey: nextKey() }, [first])
    case 1:
      return draft('/api/ApplicationLogs', { uniqueIdentifier: PROJECT, ...entryOf(first) }, [first])
    case 2:
      return draft('/api/ApplicationLogs/batch', { uniqueIdentifier: PROJECT, logEntries: mixed.map(entryOf) }, mixed)
    default: {
      const lines = marks.map((mark) => JSON.stringify({ '@t': '2026-01-31T12:00:00Z', '@m': mark })).join('\n')
      return [PROJECT, OTHER_PROJECT].map((project) => ({
        request: requestOf('/ingest/clef', lines, { ...headers, 'x-project-id': project }),
        marks: marks.map((mark) => markIn(project, mark)),
        idempotencyKey,
      }))
    }
  }
}

interface Envelope {
  readonly success: boolean
  readonly data?: { readonly errors?: readonly RefusedEntry[] }
  readonly error?: { readonly code: string; readonly details: Details | null }
}

interface RefusedEntry {
  readonly index: number
  readonly code: string
  readonly details: Details | null
}

interface Details {
  readonly outcome?: 'not_written' | 'unknown'
  readonly accepted?: number
  readonly errors?: readonly RefusedEntry[]
}

/** The claims about each entry; undefined if a valid request was refused. */
function claimsOf(answer: Answer | 'unreachable' | 'cut', count: number, path: string): readonly Claim[] | undefined {
  const all = (claim: Claim): Claim[] => new Array<Claim>(count).fill(claim)
  if (answer === 'unreachable') return all('not_written')
  if (answer === 'cut') return all('unknown')
  const { success, data, error }: Envelope = JSON.parse(answer.body)
  if (path === '/ingest/clef' && success !== (answer.status === 201)) return undefined
  const { outcome = 'unknown', accepted = 0, errors } = error?.details ?? {}
  if (error !== undefined && error.code !== 'server_error' && errors === undefined) return undefined
  // Some of these entries were accepted, but the answer does not say which.
  const claims = all(success ? 'accepted' : accepted > 0 ? 'unknown' : outcome)
  for (const { index, code, details } of data?.errors ?? errors ?? []) {
    claims[index] = code === 'server_error' ? (details?.outcome ?? 'unknown') : 'refused'
  }
  return claims
}
