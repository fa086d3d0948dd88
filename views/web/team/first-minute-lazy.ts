import { lazy } from '../ui/lazy.tsx'

/** The first minute of a Team without logs; every other Team does without its code. */
export const FirstMinute = lazy(async () => (await import('./first-minute.tsx')).FirstMinute)
