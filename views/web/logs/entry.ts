/** What shows a whole entry, in one piece: no list needs it before one is opened. */
export { EntryDetail } from './entry-detail.tsx'
export { EntryPanel } from './entry-panel.tsx'
