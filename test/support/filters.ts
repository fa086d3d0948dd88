import { type EntryFilter, EVERY_ENTRY } from '../../shared/log-store/log-store.ts'

/** All entries of a Team, narrowed by the given fields. */
export const entriesOf = (team: string, fields: Partial<EntryFilter> = {}): EntryFilter => ({
  ...EVERY_ENTRY,
  team,
  ...fields,
})
