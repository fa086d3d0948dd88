import type { Entry } from '../api/types.ts'
import { EntryActions } from './entry-actions.tsx'
import { EntryFields } from './entry-fields.tsx'
import { useWhole } from './use-whole.ts'

/** An entry in place, below its row. */
export function EntryDetail({ entry, onOpen }: { readonly entry: Entry; readonly onOpen: (id: string) => void }) {
  const whole = useWhole(entry)
  return (
    <>
      <EntryActions entry={whole} onOpen={() => onOpen(entry.id)} />
      <EntryFields entry={whole} exception />
    </>
  )
}
