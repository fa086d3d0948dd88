/** By the names of OpenTelemetry's semantic conventions. Never of a payload, a key or a path: these name people and secrets. */
export type Attributes = Readonly<Record<string, string | number>>

/** Work that is traced. */
export interface Span {
  /** Names it, as W3C Trace Context has it. */
  readonly traceparent: string
  /** Ends it; the name replaces the first one, `failure` is the kind of error (`error.type`) where it failed. */
  end(end?: { readonly name?: string; readonly attributes?: Attributes; readonly failure?: string | undefined }): void
}

export interface SpanOptions {
  readonly kind: 'server' | 'producer' | 'consumer' | 'client'
  /** The `traceparent` of the work that it is a part of; without one it begins a trace. */
  readonly parent?: string | undefined
  /** The `traceparent` of other work that it goes on with; `LINKS_MAX` at most. */
  readonly links?: readonly string[]
  readonly attributes: Attributes
}

/** Traces the work that it is asked to. Where tracing is off there is none, and whoever has work to trace asks for nothing else. */
export interface Tracer {
  /** The journal, as the conventions name it. */
  readonly messagingSystem: string
  /** Decides for work that no traced work of this process is behind. */
  readonly sample: Sampler
  /** Begins a span, sampled in any case. */
  start(name: string, options: SpanOptions): Span
  /** Whether this is a span of a request that this tracer has begun and that has not ended. */
  isOpenRequest(traceparent: string): boolean
  /** Runs the work, and has `current` give the span in it. */
  within<Result>(span: Span, work: () => Result): Result
  current(): Span | undefined
}

/** Most links of one span. */
export const LINKS_MAX = 64

/**
 * Whether some work is traced: `wish` says whether the one who sent it traces it, undefined where that is not known. `units` is how many
 * requests or records the work is.
 */
export type Sampler = (wish: boolean | undefined, units?: number) => boolean

/** What a sampler can save up while nobody has a wish. */
const CREDIT_MAX = 100

/**
 * Samples `ratio` (0 to 1) of all units at most, whatever is wished: each unit adds so much to a credit, and each sampled work takes 1 of
 * it. A wish is met while there is credit; without one the lot decides, not the trace id, which a stranger could choose.
 */
export function createSampler(ratio: number, random: () => number = Math.random): Sampler {
  let credit = CREDIT_MAX
  return (wish, units = 1) => {
    credit = Math.min(CREDIT_MAX, credit + ratio * units)
    if (!(wish ?? random() < ratio) || credit < 1) return false
    credit -= 1
    return true
  }
}

/** Ends the span with the work, and gives what the work gives. */
export async function traced<Result>(span: Span, work: () => Promise<Result>): Promise<Result> {
  try {
    const result = await work()
    span.end()
    return result
  } catch (error) {
    span.end({ failure: error instanceof Error ? error.name : typeof error })
    throw error
  }
}
