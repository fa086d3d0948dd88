import type { Steps } from '../../shared/runtime/cooperative.ts'

/** Runs work to its end. */
export function runAtOnce<Result>(work: Steps<Result>): Result {
  let step = work.next()
  while (step.done !== true) step = work.next()
  return step.value
}
