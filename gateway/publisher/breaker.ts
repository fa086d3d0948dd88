import CircuitBreaker from 'opossum'
import type { Send } from './publication.ts'

export interface BreakerOptions {
  /** It opens when more than this share of the sends in the window failed, in percent … */
  readonly failuresPercent: number
  /** … and there were at least so many. */
  readonly sendsMin: number
  readonly windowMs: number
  /** How long it stays open before one send is let through to try. */
  readonly openMs: number
}

export type BreakerState = 'closed' | 'halfOpen' | 'open'

/** Rejects a send that was not tried. */
export class PausedError extends Error {
  override readonly name = 'PausedError'
}

export interface Breaker {
  readonly send: Send
  /** Ends its timers; sends after it are refused. */
  close(): void
}

/**
 * A circuit breaker around the next step: while the journal keeps failing, sends are refused at once. The next step must settle
 * in bounded time, because the one send of a half-open breaker decides what follows.
 */
export function createBreaker(options: BreakerOptions, onState: (state: BreakerState) => void, next: Send): Breaker {
  const circuit = new CircuitBreaker(next, {
    timeout: false,
    errorThresholdPercentage: options.failuresPercent,
    volumeThreshold: options.sendsMin,
    rollingCountTimeout: options.windowMs,
    resetTimeout: options.openMs,
    // Both would keep and sort the latency of every send for figures that nobody reads.
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
  })
  circuit.on('open', () => onState('open'))
  circuit.on('halfOpen', () => onState('halfOpen'))
  circuit.on('close', () => onState('closed'))
  return {
    send: async (batch) => {
      try {
        await circuit.fire(batch)
      } catch (error) {
        throw CircuitBreaker.isOurError(error as Error)
          ? new PausedError('the breaker is open', { cause: error })
          : error
      }
    },
    close: () => circuit.shutdown(),
  }
}
