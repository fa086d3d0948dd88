import type { EntryKind } from '../api/types.ts'

export const LogsPage = ({ kind }: { readonly kind: EntryKind }) => (
  <div class="page">
    <h1>{kind === 'event' ? 'Event logs' : 'Application logs'}</h1>
  </div>
)
