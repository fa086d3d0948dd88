/** Named by OpenTelemetry's semantic conventions. Never from a payload, a key or a path, which contain personal data and secrets. */
export type Attributes = Readonly<Record<string, string | number>>

/** A traced piece of work. */
export interface Span {
  /** Identifies it, in the format of W3C Trace Context. */
  readonly traceparent: string
  /** Ends it; the name replaces the first one, `failure` is the kind of error (`error.type`) if it failed. */
  end(end?: { readonly name?: string; readonly attributes?: Attributes; readonly failure?: string | undefined }): void
}

export interface SpanOptions {
  readonly kind: 'server' | 'producer' | 'consumer' | 'client'
  /** The `traceparent` of the enclosing work; without one, it begins a trace. */
  readonly parent?: string | undefined
  /** The `traceparent`s of other work that this continues; at most `LINKS_MAX`. */
  readonly links?: readonly string[]
  readonly attributes: Attributes
}

/** Traces the work that it is given. Without tracing there is no tracer, so code that can be traced checks only for that. */
export interface Tracer {
  /** The journal's name in the semantic conventions. */
  readonly messagingSystem: string
  /** Decides about work that does not result from traced work of this process. */
  readonly sample: Sampler
  /** Begins a span, which is always sampled. */
  start(name: string, options: SpanOptions): Span
  /** Whether this is a span of a request that this tracer began and that has not ended. */
  isOpenRequest(traceparent: string): boolean
  /** Runs the work; in it, `current` returns the span. */
  within<Result>(span: Span, work: () => Result): Result
  current(): Span | undefined
}

/** Maximum links of one span. */
export const LINKS_MAX = 64

/**
 * Whether some work is traced: `wish` is whether its sender traces it, undefined if unknown. `units` is the number of requests or records
 * in the work.
 */
export type Sampler = (wish: boolean | undefined, units?: number) => boolean

/** The credit that a sampler can save up while no work is sampled. */
const CREDIT_MAX = 100

/**
 * Samples at most `ratio` (0 to 1) of all units, whatever the wishes: each unit adds `ratio` to a credit, and each sampled work takes 1 of
 * it. A wish is met while there is credit; without a wish, chance decides, not the trace id, which a stranger could choose.
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

/** Ends the span with the work, and returns the work's result. */
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
