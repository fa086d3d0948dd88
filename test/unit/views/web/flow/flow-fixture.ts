import type { Level } from '../../../../../shared/contract/levels.ts'
import { type FlowLog, readLogs } from '../../../../../views/flow-layout/flow-log.ts'
import type { ApplicationLog, Entry, EventLog, FlowStep } from '../../../../../views/schemas/answers.ts'

/** When the flows of these tests begin. */
export const START = Date.parse('2026-01-31T09:30:00.000Z')
export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE

export const iso = (ms: number): string => new Date(START + ms).toISOString()

let minted = 0
const mint = (): string => `id-${String(minted++).padStart(6, '0')}`

/** An event log so many milliseconds after the start, at `event` or at `event.step`. */
export function eventEntry(
  ms: number,
  event: string | null,
  step: string | null,
  more: Partial<EventLog> = {},
): EventLog {
  return {
    kind: 'event',
    id: mint(),
    timestamp: iso(ms),
    receivedAt: iso(ms + 4),
    level: 'Information',
    environment: 'Test',
    correlationKey: 'k',
    event: event === null ? null : { identifier: event, name: null },
    step: step === null ? null : { identifier: event === null ? step : `${event}.${step}`, name: step },
    payload: 'done',
    ...more,
  }
}

/** An application log so many milliseconds after the start. */
export function applicationEntry(ms: number, categoryName: string, more: Partial<ApplicationLog> = {}): ApplicationLog {
  return {
    kind: 'application',
    id: mint(),
    timestamp: iso(ms),
    receivedAt: iso(ms + 4),
    level: 'Information',
    environment: 'Test',
    correlationKey: 'k',
    project: { id: 'p', name: 'Checkout API' },
    categoryName,
    eventId: 0,
    eventName: '',
    message: 'said',
    exception: null,
    scopeData: null,
    ...more,
  }
}

export const stepEntry = (ms: number, step: string, level: Level = 'Information', event = 'order'): Entry =>
  eventEntry(ms, event, step, { level })

export const appEntry = (ms: number, category = 'Acme.Billing', level: Level = 'Information'): Entry =>
  applicationEntry(ms, category, { level })

/** Logs as the page reads them. */
export const logsOf = (...entries: readonly Entry[]): readonly FlowLog[] => readLogs(entries, 'timestamp')

/** The Steps that the registry expects of an Event. */
export const expected = (event: string, ...steps: string[]): readonly FlowStep[] =>
  steps.map((step) => ({
    event: { identifier: event, name: null },
    step: { identifier: `${event}.${step}`, name: step },
    seen: false,
    firstAt: null,
    lastAt: null,
    duration: null,
    count: 0,
    worstLevel: null,
  }))
