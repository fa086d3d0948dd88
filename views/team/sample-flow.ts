import { randomBytes } from 'node:crypto'
import type { Problem } from '../../shared/contract/errors.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import { reasonOf } from '../../shared/http/failed-request.ts'
import type { StepDescription, TeamDescription } from '../../shared/registry/describe.ts'
import { isInUse } from '../../shared/registry/registry.ts'
import type { Clock } from '../../shared/runtime/clock.ts'
import { conflict, unavailable } from '../api/problems.ts'
import type { SampleFlow } from '../schemas/team.ts'
import type { Tickets } from '../session/tickets.ts'

/** How the page's server reaches a gateway. */
export interface GatewayAccess {
  /** The address with its base path and without a trailing slash; null if unknown. */
  readonly url: () => string | null
  readonly tickets: Tickets
}

/** Time limit for all requests together. */
const TIMEOUT_MS = 15_000

/**
 * Sends a sample flow of the Team to the gateway over HTTP, like any client. Throws `conflict` if there is nothing to log to, no gateway is
 * known, or the gateway refuses it, and `server_error` if no gateway answers.
 */
export async function sendSampleFlow(
  team: TeamDescription,
  { url, tickets }: GatewayAccess,
  clock: Clock,
): Promise<SampleFlow> {
  const address = url()
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

/** Sends one request and returns the number of its entries. */
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
      ? `The gateway at ${address} does not trust this page. Both need the same SESSION_SECRET, and clocks that differ by less than a minute.`
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
    throw unavailable(`The gateway at ${new URL(url).origin} did not answer as one: ${reasonOf(error)}.`)
  }
}

/** A request to the gateway. */
interface SampleRequest {
  readonly path: '/api/ExternalLogs' | '/api/ApplicationLogs/batch'
  readonly body: object
}

const ENVIRONMENT = 'Sample'
const STEPS_MAX = 6

/** Ages of the entries in seconds: a busy beginning, a long idle time that the drawing folds, and a busy end. */
const BEGUN = 26 * 60
const RESUMED = 90

/**
 * A demonstration flow from the Team's Events, Steps and Projects in use: an Event whose last Step is still missing, and logs of a Project
 * with an error that was recovered from. Empty if the Team has nothing in use.
 */
export function sampleRequests(team: TeamDescription, correlationKey: string, now: number): readonly SampleRequest[] {
  const { event, steps } = processOf(team)
  const project = team.projects.find(isInUse)
  const done = steps.length > 2 ? steps.slice(0, -1) : steps
  const common = { correlationKey, environment: ENVIRONMENT }
  const at = (secondsAgo: number): string => timestampOf(Math.round(now - secondsAgo * 1_000))
  const eventLog = (uniqueIdentifier: string, level: string, secondsAgo: number, payload: object): SampleRequest => ({
    path: '/api/ExternalLogs',
    body: { uniqueIdentifier, level, payload: JSON.stringify(payload), timestamp: at(secondsAgo), ...common },
  })
  const requests: SampleRequest[] = []
  if (event !== undefined)
    requests.push(eventLog(event, 'Information', BEGUN, { sample: true, text: 'A sample flow begins' }))
  for (const [index, { identifier, name }] of done.entries()) {
    // The first Step finishes at once; the second causes the long wait, after which the others finish.
    const ended = index === 0 ? BEGUN - 1.2 : RESUMED - 9 * index
    if (index === 1)
      requests.push(
        eventLog(identifier, 'Warning', BEGUN - 4, { sample: true, text: `${name}: no answer, trying again later` }),
      )
    requests.push(
      eventLog(identifier, 'Information', ended, {
        sample: true,
        text: `${name}: done`,
        durationMs: 420 + 130 * index,
      }),
    )
  }
  if (project !== undefined) requests.push(projectLogs(project.id, common, at))
  return requests
}

/** The Event with the most Steps in use, else the Steps without an Event. */
function processOf({ events, steps }: TeamDescription): {
  readonly event: string | undefined
  readonly steps: readonly StepDescription[]
} {
  const inUse = events
    .filter(isInUse)
    .map(({ identifier, steps }) => ({ event: identifier, steps: steps.filter(isInUse).slice(0, STEPS_MAX) }))
  const [best] = inUse.toSorted((a, b) => b.steps.length - a.steps.length)
  return best ?? { event: undefined, steps: steps.filter(isInUse).slice(0, STEPS_MAX) }
}

const EXCEPTION = `System.TimeoutException: The sample service did not answer within 2,000 ms.
   at Sample.Client.SendAsync(HttpRequestMessage request) in /src/Sample/Client.cs:line 42
   at Sample.Worker.RunAsync(String key) in /src/Sample/Worker.cs:line 17
 ---> System.Net.Sockets.SocketException (110): Connection timed out
   --- End of inner exception stack trace ---`

function projectLogs(project: string, common: object, at: (secondsAgo: number) => string): SampleRequest {
  const entry = (level: string, secondsAgo: number, message: string, more: object = {}): object => ({
    categoryName: 'Sample.Worker',
    level,
    message,
    timestamp: at(secondsAgo),
    scopeData: { sample: true, attempt: secondsAgo > RESUMED ? 1 : 2 },
    ...common,
    ...more,
  })
  const logEntries = [
    entry('Debug', BEGUN - 0.3, 'Picked up by worker 3'),
    entry('Error', BEGUN - 3.5, 'The sample service did not answer', {
      categoryName: 'Sample.Client',
      eventId: 504,
      eventName: 'NoAnswer',
      exception: EXCEPTION,
    }),
    entry('Information', RESUMED, 'Second attempt'),
    entry('Information', RESUMED - 8, 'The sample service answered in 380 ms', { categoryName: 'Sample.Client' }),
  ]
  return { path: '/api/ApplicationLogs/batch', body: { uniqueIdentifier: project, logEntries } }
}
