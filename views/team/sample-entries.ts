import { timestampOf } from '../../shared/contract/timestamp.ts'
import type { StepDescription, TeamDescription } from '../../shared/registry/describe.ts'

/** A request to the gateway. */
export interface SampleRequest {
  readonly path: '/api/ExternalLogs' | '/api/ApplicationLogs/batch'
  readonly body: object
}

const ENVIRONMENT = 'Sample'
const STEPS_MAX = 6

/** How long before now things happened, in seconds: a busy beginning, a long wait that the drawing folds, and a busy end. */
const BEGUN = 26 * 60
const RESUMED = 90

/**
 * A flow to look at, over what the Team has in use: an Event with its Steps, of which the last has not happened yet, and logs of a
 * Project beside them, with something that went wrong and was mended. Empty where the Team has nothing in use.
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
    // The first Step is done at once; the others after the long wait, which the second one is the cause of.
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

/** The Event with most Steps in use, else the Steps that stand alone. */
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

const isInUse = ({ archivedAt }: { readonly archivedAt: string | null }): boolean => archivedAt === null

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
