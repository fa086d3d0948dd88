/** The texts of the shell: skip links, the palette and its commands. */
export const SKIP = { content: 'Skip to the content', list: 'Skip to the list' } as const

export const PALETTE = {
  /** The texts of each kind of search, by the key that opens it. */
  all: { title: 'Go to', label: 'Flow, Event, Project, saved search, page or command', key: 'Anything by its name' },
  flows: { title: 'Go to a flow', label: 'correlationKey', key: 'A flow by its key' },
  results: 'Results',
  groups: {
    flows: 'Flows',
    latest: 'Latest flows',
    exact: 'Exact key',
    pages: 'Pages',
    searches: 'Saved searches',
    events: 'Events',
    projects: 'Projects',
    commands: 'Commands',
    logs: 'Logs',
  },
  exactly: (key: string): string => `The flow ${key}`,
  having: (page: string, text: string): string => `${page} with ${text}`,
  found: (count: number): string => (count === 1 ? '1 result' : `${count} results`),
  nothing: 'Nothing has this in its name.',
} as const

export const COMMANDS = {
  theme: (name: string): string => `Theme: ${name}`,
  copyLink: 'Copy the link',
  utc: 'Times in UTC or local time',
  keyboard: 'Keyboard help',
  signOut: 'Sign out',
} as const
