import type { ByteBudget } from '../../shared/runtime/byte-budget.ts'
import type { Send } from './publication.ts'

/**
 * Holds a micro-batch's bytes until the next step has really settled. Whoever stops waiting for it earlier does not make room:
 * the records are still in memory.
 */
export const holdBytes =
  (budget: ByteBudget, next: Send): Send =>
  async (batch) => {
    budget.take(batch.bytes)
    try {
      await next(batch)
    } finally {
      budget.give(batch.bytes)
    }
  }
