import type { EntryKind } from '../api/types.ts'

export const FirstMinute = ({ kind }: { readonly kind: EntryKind | 'flow' }) => (
  <div class="empty">
    <h2>No {kind} logs yet</h2>
  </div>
)
