/** The pages below the base path, in navigation order. The server answers each of these paths with the shell. */
export const PAGES = [
  { path: 'event-logs', name: 'Event logs' },
  { path: 'application-logs', name: 'Application logs' },
  { path: 'flows', name: 'Flows' },
  { path: 'refused', name: 'Refused logs' },
  { path: 'watches', name: 'Watches' },
  { path: 'team', name: 'Team' },
] as const
