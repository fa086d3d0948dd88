import { lazy } from '../ui/lazy.tsx'

export const EntryDetail = lazy(async () => (await import('./entry.ts')).EntryDetail)

export const EntryPanel = lazy(async () => (await import('./entry.ts')).EntryPanel)
