import type { Entry } from '../api/types.ts'
import { EntryActions } from './entry-actions.tsx'
import { EntryFields } from './entry-fields.tsx'

/** An entry in place, below its row. */
export const EntryDetail = ({ entry, onOpen }: { readonly entry: Entry; readonly onOpen: (id: string) => void }) => (
  <>
    <EntryActions entry={entry} onOpen={() => onOpen(entry.id)} />
    <EntryFields entry={entry} exception />
  </>
)
