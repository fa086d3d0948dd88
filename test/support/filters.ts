import type { EntryFilter } from '../../shared/log-store/log-store.ts'

/** All entries of a Team, narrowed by the given fields. */
export const entriesOf = (team: string, fields: Partial<EntryFilter> = {}): EntryFilter => ({
  team,
  kinds: [],
  query: { type: 'all' },
  from: null,
  to: null,
  levelMin: null,
  levelMax: null,
  environment: null,
  correlationKey: null,
  event: null,
  step: null,
  project: null,
  category: null,
  template: null,
  exceptionGroup: null,
  ...fields,
})
