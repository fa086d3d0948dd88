import { type Checked, type Problem, problem } from '../../shared/contract/errors.ts'
import { presentedKey } from '../../shared/http/api-key.ts'
import type { BodyGrant, BodySource } from '../../shared/http/body.ts'
import type { ByteBudget } from '../../shared/runtime/byte-budget.ts'
import type { Config } from '../../shared/runtime/config.ts'
import { type CheckDeps, refuseKey, refuseUntilReady } from './checks.ts'
import { checkSender } from './foreign-sender.ts'
import type { Quotas } from './quotas.ts'

/** Decides from a request's headers how much of its body is read. */
type GrantBody = (request: Pick<BodySource, 'headers'>) => Checked<BodyGrant>

interface BodyGrantsDeps extends Pick<CheckDeps, 'registry' | 'registryReady'> {
  readonly config: Pick<Config, 'MAX_BODY_BYTES' | 'MAX_INFLATED_BYTES'>
  readonly budget: ByteBudget
  readonly quotas: Pick<Quotas, 'refusal'>
}

/** Maximum bytes read of a body whose sender is unknown: its refusal names its mistakes, and no honest one is larger. */
export const UNKNOWN_BODY_BYTES_MAX = 64 * 1024

/** The weight of the share of all unknown senders: together they can hold 1/9 of the budget. */
const UNKNOWN_WEIGHT = 1 / 8
/** The owner of their bodies, which is no Team's id. */
const UNKNOWN = ''

export interface BodyGrants {
  /** For endpoints whose target is in the body: the key is checked against it later, but a large body needs the key of some Team. */
  readonly byTarget: GrantBody
  /** For endpoints where the key alone identifies the sender. */
  readonly byKey: GrantBody
}

export function createBodyGrants({ registry, registryReady, config, budget, quotas }: BodyGrantsDeps): BodyGrants {
  const unknownShare = budget.share(UNKNOWN, UNKNOWN_WEIGHT)

  const unknown = (beyond: Problem): Checked<BodyGrant> => ({
    value: {
      owner: UNKNOWN,
      wireBytesMax: UNKNOWN_BODY_BYTES_MAX,
      inflatedBytesMax: UNKNOWN_BODY_BYTES_MAX,
      beyond,
      share: unknownShare,
    },
  })

  function known(owner: string): Checked<BodyGrant> {
    const limited = quotas.refusal(owner)
    if (limited !== undefined) return { problem: limited }
    return {
      value: {
        owner,
        wireBytesMax: config.MAX_BODY_BYTES,
        inflatedBytesMax: config.MAX_INFLATED_BYTES,
        share: budget.share(owner),
      },
    }
  }

  return {
    byTarget: ({ headers }) => {
      const key = presentedKey(headers)
      if (key === undefined) return unknown(problem('missing_api_key'))
      const owner = registry.ownerOfKey(key)
      if (owner !== undefined) return known(owner)
      return unknown((registryReady() ? refuseKey(registry, key) : refuseUntilReady()).problem)
    },
    byKey: ({ headers }) => {
      const sender = checkSender(headers, { registry, registryReady })
      return sender.problem === undefined ? known(sender.value.id) : sender
    },
  }
}
