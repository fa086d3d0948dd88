import type { Answer } from '../answer-parser.ts'
import type { Dialect, Draft } from '../draft.ts'
import { type Accepted, acceptedIn, type Failure, isSuccess, typeProblem } from './envelope.ts'
import { isOtlpSuccess, otlpFailure, otlpProblems, rejectedOf } from './otlp.ts'
import { csvProblem, eventsProblem, linesProblem, metricsProblem, xmlProblem } from './streams.ts'

/** The meaning of a response, and its faults. */
export interface Verdict {
  /** Identical sentences for identical faults, so that they can be counted. */
  readonly problems: readonly string[]
  readonly accepted?: Accepted | undefined
  readonly failure?: Failure | undefined
}

/** A response other than a refusal in Sluice's envelope. */
export interface Case {
  readonly request: Draft
  readonly answer: Answer
  /** The decompressed body. */
  readonly body: Buffer
  /** Undefined if the response is not JSON. */
  readonly json: unknown
}

const fine: Verdict = { problems: [] }
const bad = (problem: string | undefined): Verdict => (problem === undefined ? fine : { problems: [problem] })
const typeOf = ({ headers }: Answer): string => headers.get('content-type')?.join() ?? 'no type'
const isStatus = ({ answer: { status } }: Case, ...statuses: number[]): boolean => statuses.includes(status)

/** Neither a success nor a failure in any format of the route. */
const stranger = ({ answer }: Case): Verdict =>
  bad(
    answer.bytes === 0
      ? `status ${answer.status} without a body`
      : `status ${answer.status} with neither the envelope nor what the route answers (${typeOf(answer)})`,
  )

function ingestion(one: Case): Verdict {
  const accepted = acceptedIn(one.json)
  if (accepted === undefined) return stranger(one)
  return {
    accepted,
    ...bad(isStatus(one, 200, 201, 207) ? typeProblem(one.answer) : `a success came with status ${one.answer.status}`),
  }
}

function otlp(one: Case): Verdict {
  const failure = otlpFailure(one.json)
  if (failure !== undefined) return { failure, problems: [...otlpProblems(one.answer, failure)] }
  if (!isOtlpSuccess(one.json) || !isStatus(one, 200)) return stranger(one)
  const entries = one.request.stores?.entries
  return entries === undefined ? fine : { accepted: { count: entries - rejectedOf(one.json) }, problems: [] }
}

function view(one: Case): Verdict {
  if (!isSuccess(one.json) || !isStatus(one, 200, 201)) return stranger(one)
  return bad(typeProblem(one.answer) ?? commandProblem(one.json))
}

/** Commands are pasted into a shell, so they must not contain anything that a terminal interprets. */
function commandProblem(json: unknown): string | undefined {
  const { data } = json as { data: { curl?: unknown; items?: unknown } | null }
  const items: readonly unknown[] = Array.isArray(data?.items) ? data.items : []
  const commands = [data, ...items].map((one) => (one as { curl?: unknown } | null)?.curl)
  const unsafe = commands.some((one) => typeof one === 'string' && /(?!\n)\p{Cc}/u.test(one))
  return unsafe ? 'a command to paste has control characters' : undefined
}

function stream(one: Case): Verdict {
  const type = typeOf(one.answer)
  const text = one.body.toString()
  if (!isStatus(one, 200)) return stranger(one)
  if (type.startsWith('text/event-stream')) return bad(eventsProblem(text))
  if (type.startsWith('application/x-ndjson')) return bad(linesProblem(text))
  if (type.startsWith('text/csv')) return bad(csvProblem(text))
  if (type.startsWith('image/svg+xml')) return bad(xmlProblem(text))
  return stranger(one)
}

function page(one: Case): Verdict {
  if (isStatus(one, 200, 206) && /^(text|image|font)\//.test(typeOf(one.answer))) return fine
  // Redirects, and responses to conditions and ranges (RFC 9110, 13 and 14), need no body.
  return isStatus(one, 302, 304, 308) ? fine : stranger(one)
}

function health(one: Case): Verdict {
  const json = one.json as { live?: unknown; ready?: unknown } | undefined
  if (isStatus(one, 200) && (json?.live === true || json?.ready === true)) return fine
  return isStatus(one, 503) && json?.ready === false ? fine : stranger(one)
}

function openapi(one: Case): Verdict {
  return typeof (one.json as { openapi?: unknown } | undefined)?.openapi === 'string' ? fine : stranger(one)
}

function metrics(one: Case): Verdict {
  return isStatus(one, 200) && typeOf(one.answer).startsWith('text/plain')
    ? bad(metricsProblem(one.body.toString()))
    : stranger(one)
}

/** A request with a changed path may be answered in any format. */
function any(one: Case): Verdict {
  const verdicts = [ingestion, otlp, view, stream, health, openapi, metrics, page].map((dialect) => dialect(one))
  const isKnown = ({ problems }: Verdict): boolean => problems.every((problem) => !problem.startsWith('status '))
  return verdicts.find(({ problems }) => problems.length === 0) ?? verdicts.find(isKnown) ?? stranger(one)
}

export const DIALECTS: Readonly<Record<Dialect, (one: Case) => Verdict>> = {
  ingestion,
  seq: ingestion,
  shipper: ingestion,
  otlp,
  view,
  tail: stream,
  export: stream,
  page,
  openapi,
  metrics,
  health,
  any,
}
