import type { Config } from '../runtime/config.ts'
import { SETTINGS } from '../runtime/config-schema.ts'
import type { Team } from './registry.ts'

/** The quota of a Team; null for no limit. */
export interface Quota {
  readonly entriesPerSecond: number | null
  readonly bytesPerSecond: number | null
  readonly burstSeconds: number
  readonly shadow: boolean
}

/** The allowed integers for each field of the quota. */
export const LIMIT_RANGES = {
  entriesPerSecond: SETTINGS.QUOTA_ENTRIES_PER_SECOND,
  bytesPerSecond: SETTINGS.QUOTA_BYTES_PER_SECOND,
  burstSeconds: SETTINGS.QUOTA_BURST_SECONDS,
} as const

export type QuotaSettings = Pick<
  Config,
  'QUOTA_ENTRIES_PER_SECOND' | 'QUOTA_BYTES_PER_SECOND' | 'QUOTA_BURST_SECONDS' | 'QUOTA_MODE'
>

/** A Team's own limits, completed by the settings. */
export const quotaOf = ({ limits = {} }: Pick<Team, 'limits'>, config: QuotaSettings): Quota => ({
  entriesPerSecond: limits.entriesPerSecond ?? config.QUOTA_ENTRIES_PER_SECOND,
  bytesPerSecond: limits.bytesPerSecond ?? config.QUOTA_BYTES_PER_SECOND,
  burstSeconds: limits.burstSeconds ?? config.QUOTA_BURST_SECONDS,
  shadow: limits.shadow ?? config.QUOTA_MODE === 'shadow',
})
