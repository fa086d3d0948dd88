import { systemClock } from '../../../shared/runtime/clock.ts'
import type { Entry } from '../api/types.ts'
import { copy } from '../ui/copy.tsx'
import { entryLink } from './links.ts'

export const copyJson = (entry: Entry): Promise<boolean> => copy(JSON.stringify(entry, null, 2), 'The JSON')

export const copyLink = (entry: Entry): Promise<boolean> => copy(entryLink(entry, systemClock.now()), 'The link')
