import { go } from '../ui/use-address.ts'
import { useKeys } from '../ui/use-keys.ts'
import { toggleUtc } from '../ui/use-utc.ts'
import { openGoToFlow } from './go-to-flow.tsx'

/** The keys that work on every page. */
export function useGoKeys(): void {
  useKeys({
    e: { what: 'Event logs', run: () => go({ path: ['event-logs'] }) },
    a: { what: 'Application logs', run: () => go({ path: ['application-logs'] }) },
    g: { what: 'A flow by its key', run: openGoToFlow },
    u: { what: 'UTC or local time', run: toggleUtc },
  })
}
