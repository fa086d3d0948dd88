import { type Problem, problem, problemSaying } from '../../shared/contract/errors.ts'
import { type Quota, type QuotaSettings, quotaOf } from '../../shared/registry/limits.ts'
import type { Registry } from '../../shared/registry/registry.ts'
import type { Metrics } from '../../shared/runtime/metrics.ts'

/**
 * The quotas of Teams: entries and bytes per second, as token buckets; each gateway has its share of the rate. A request is taken while any
 * tokens are left, and may overdraw the bucket: otherwise a batch larger than the bucket would never be taken. The debt is at most that of
 * one request, as nothing is taken until it is paid.
 */
export interface Quotas {
  /**
   * The refusal of any request of this Team now, if its quota is used up. Needs only the head of a request, so that the body of a refused
   * one is not parsed.
   */
  readonly refusal: (teamId: string) => Problem | undefined
  /** Takes a request of this many entries and body bytes, or returns the refusal. */
  readonly take: (teamId: string, entries: number, bytes: number) => Problem | undefined
}

interface QuotasDeps {
  readonly config: QuotaSettings
  readonly registry: Pick<Registry, 'team'>
  readonly metrics: Metrics
  /** This gateway's share of each quota, from 0 to 1; default 1. */
  readonly share?: () => number
  /** Returns a number from 0 up to but not including 1. */
  readonly random?: () => number
}

/** The longest wait that a sender is told, apart from the random part that keeps senders from returning all at once. */
export const RETRY_AFTER_SECONDS_MAX = 60

/** Maximum Teams that metrics name; later ones are counted together. */
const TEAMS_NAMED_MAX = 20
const OTHERS = 'others'

/** The tokens left in each bucket (a debt if negative) at the time `at` (`performance.now()`). */
interface Account {
  entries: number
  bytes: number
  at: number
}

const FULL = Number.POSITIVE_INFINITY

export function createQuotas({ config, registry, metrics, share = () => 1, random = Math.random }: QuotasDeps): Quotas {
  const limitedRequests = metrics.counter('sluice_quota_limited_total')
  const takenEntries = metrics.counter('sluice_quota_entries_total')
  const takenBytes = metrics.counter('sluice_quota_bytes_total')
  // Teams are few, so none is forgotten.
  const accounts = new Map<string, Account>()
  const named = new Set<string>()

  function labelOf(team: string): string {
    if (named.size < TEAMS_NAMED_MAX) named.add(team)
    return named.has(team) ? team : OTHERS
  }

  function quotaOfTeam(id: string): Quota | undefined {
    const team = registry.team(id)
    const quota = team && quotaOf(team, config)
    return quota?.entriesPerSecond === null && quota.bytesPerSecond === null ? undefined : quota
  }

  /** The account with its buckets refilled up to now. */
  function accountOf(team: string, quota: Quota): Account {
    const now = performance.now()
    const account = accounts.get(team) ?? { entries: FULL, bytes: FULL, at: now }
    accounts.set(team, account)
    const seconds = (now - account.at) / 1_000
    account.entries = refilled(account.entries, seconds, rateOf(quota.entriesPerSecond), quota.burstSeconds)
    account.bytes = refilled(account.bytes, seconds, rateOf(quota.bytesPerSecond), quota.burstSeconds)
    account.at = now
    return account
  }

  const rateOf = (limit: number | null): number => (limit === null ? FULL : limit * share())

  /** Seconds until a request is taken again; zero if that is now. */
  const waitFor = (tokens: number, rate: number): number => (tokens > 0 ? 0 : -tokens / rate || 1 / rate)

  function refusalOf(team: string, quota: Quota, { entries, bytes }: Account): Problem | undefined {
    if (entries > 0 && bytes > 0) return undefined
    limitedRequests.inc({ team: labelOf(team), mode: quota.shadow ? 'shadow' : 'enforced' })
    const forEntries = waitFor(entries, rateOf(quota.entriesPerSecond))
    const forBytes = waitFor(bytes, rateOf(quota.bytesPerSecond))
    const seconds = Math.min(Math.max(forEntries, forBytes), RETRY_AFTER_SECONDS_MAX)
    const retryAfterSeconds = Math.max(1, Math.ceil(seconds + random() * Math.max(1, seconds / 2)))
    return rateLimited(team, quota, forEntries >= forBytes ? 'entries' : 'bytes', retryAfterSeconds)
  }

  return {
    refusal: (team) => {
      const quota = quotaOfTeam(team)
      return quota === undefined || quota.shadow ? undefined : refusalOf(team, quota, accountOf(team, quota))
    },
    take: (team, entries, bytes) => {
      const quota = quotaOfTeam(team)
      if (quota === undefined) return undefined
      const account = accountOf(team, quota)
      const refusal = refusalOf(team, quota, account)
      // In shadow mode, too, the request takes no tokens, so that the counters show what enforcement would do.
      if (refusal !== undefined) return quota.shadow ? undefined : refusal
      account.entries -= entries
      account.bytes -= bytes
      takenEntries.inc({ team: labelOf(team) }, entries)
      takenBytes.inc({ team: labelOf(team) }, bytes)
      return undefined
    },
  }
}

/** The tokens of a bucket after `seconds`; its capacity is the refill of `burstSeconds`. */
const refilled = (tokens: number, seconds: number, rate: number, burstSeconds: number): number =>
  rate === FULL ? FULL : Math.min(tokens + seconds * rate, rate * burstSeconds)

/** Names the Team's whole quota, not this gateway's share of it, and who can change it. */
function rateLimited(team: string, quota: Quota, of: 'entries' | 'bytes', retryAfterSeconds: number): Problem {
  const field = of === 'entries' ? 'entriesPerSecond' : 'bytesPerSecond'
  const limit = quota[field] ?? 0
  const details = { team, [field]: limit, retryAfterSeconds }
  const who = 'An operator of this installation can change that: `limits` of the Team in the registry.'
  // Trying again later, which is the code's usual remedy, does not help.
  if (limit === 0)
    return problemSaying(
      'rate_limited',
      `The Team has a quota of 0 ${of} a second, so nothing of it is taken. ${who}`,
      details,
    )
  const message = `The Team has sent more than its quota, ${limit.toLocaleString('en')} ${of} a second. ${who}`
  return problem('rate_limited', details, message)
}
