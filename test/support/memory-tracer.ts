import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sampler, Span, SpanOptions, Tracer } from '../../shared/runtime/tracing.ts'

export interface TracedWork extends SpanOptions {
  readonly name: string
  readonly traceparent: string
  ended: boolean
  failure: string | undefined
}

/** A tracer that stores its spans; the n-th has n in its trace and span ids. Requests stay open until they end. */
export function createMemoryTracer(sample: Sampler = () => true): Tracer & { readonly spans: readonly TracedWork[] } {
  const spans: TracedWork[] = []
  const currents = new AsyncLocalStorage<Span>()
  return {
    spans,
    messagingSystem: 'memory',
    sample,
    start: (name, options) => {
      const work: TracedWork = {
        ...options,
        name,
        traceparent: traceparentOf(spans.length + 1),
        ended: false,
        failure: undefined,
      }
      spans.push(work)
      return {
        traceparent: work.traceparent,
        end: ({ failure, name: named = name, attributes } = {}) =>
          void Object.assign(work, {
            ended: true,
            failure,
            name: named,
            attributes: { ...options.attributes, ...attributes },
          }),
      }
    },
    isOpenRequest: (traceparent) =>
      spans.some((span) => span.kind === 'server' && span.traceparent === traceparent && !span.ended),
    within: (span, work) => currents.run(span, work),
    current: () => currents.getStore(),
  }
}

export const traceparentOf = (number: number, flags = '01'): string =>
  `00-${String(number).padStart(32, '0')}-${String(number).padStart(16, '0')}-${flags}`
