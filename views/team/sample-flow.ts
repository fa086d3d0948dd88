import { randomBytes } from 'node:crypto'
import type { Problem } from '../../shared/errors.ts'
import type { TeamDescription } from '../../shared/registry/describe.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import { conflict, unavailable } from '../api/problems.ts'
import type { Tickets } from '../session/tickets.ts'
import { type SampleRequest, sampleRequests } from './sample-entries.ts'

/** How the page's server reaches a gateway. */
export interface GatewayAccess {
  /** The address with its base path; null where none is known. */
  readonly url: () => string | null
  readonly tickets: Tickets
}

export interface SampleFlow {
  readonly correlationKey: string
  /** How many entries were sent. */
  readonly sent: number
}

/** Longest time of the whole. */
const TIMEOUT_MS = 15_000

/**
 * Sends a sample flow of the Team to the gateway, over HTTP as any client does. Throws `conflict` where there is nothing to send it
 * for, no gateway known, or a gateway that refuses it, and `server_error` where none answers.
 */
export async function sendSampleFlow(
  team: TeamDescription,
  { url, tickets }: GatewayAccess,
  clock: Clock,
): Promise<SampleFlow> {
  const address = url()?.replace(/\/+$/, '') ?? null
  if (address === null)
    throw conflict(
      'No gateway is known here. The operator has to set GATEWAY_URL for the process that serves the page.',
    )
  const now = clock.now()
  const day = new Date(now).toISOString().slice(0, 10)
  const correlationKey = `sample-${day}-${randomBytes(3).toString('hex')}`
  const requests = sampleRequests(team, correlationKey, now)
  if (requests.length === 0)
    throw conflict('The Team has no Event, Step or Project in use. Create one first, in the settings of the Team.')
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  let sent = 0
  for (const request of requests) sent += await send(address, tickets.issue(team.id), request, signal)
  return { correlationKey, sent }
}

interface Answer {
  readonly success: boolean
  readonly data?: { readonly count?: number; readonly rejected?: number }
  readonly error?: Problem
}

/** Sends one request; gives the number of its entries. */
async function send(
  address: string,
  ticket: string,
  { path, body }: SampleRequest,
  signal: AbortSignal,
): Promise<number> {
  const answer = await post(`${address}${path}`, ticket, body, signal)
  if (answer.success && answer.data?.rejected === undefined) return answer.data?.count ?? 1
  const { code, message, retryable } = answer.error ?? { code: 'a part of the batch', message: '', retryable: false }
  if (retryable) throw unavailable(`The gateway could not take the sample: ${message}`)
  throw conflict(
    code === 'invalid_api_key'
      ? `The gateway at ${address} does not trust this page. Both need the same SESSION_SECRET.`
      : `The gateway at ${address} refused ${code} of the sample. ${message}`,
  )
}

async function post(url: string, ticket: string, body: object, signal: AbortSignal): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': ticket, 'user-agent': 'sluice-sample-flow' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal,
    })
    return (await response.json()) as Answer
  } catch (error) {
    const { message, cause } = error as Error
    const reason = cause instanceof Error ? cause.message : message
    throw unavailable(`The gateway at ${new URL(url).origin} did not answer as one: ${reason}.`)
  }
}
