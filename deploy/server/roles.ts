/** The work of a process: everything, or one stage on the way of an entry. */
export const ROLES = ['all', 'gateway', 'consumers', 'views', 'watches'] as const

export type Role = (typeof ROLES)[number]

export const takesLogs = (role: Role): boolean => role === 'all' || role === 'gateway'
export const indexesLogs = (role: Role): boolean => role === 'all' || role === 'consumers'
export const showsLogs = (role: Role): boolean => role === 'all' || role === 'views'
export const evaluatesWatches = (role: Role): boolean => role === 'all' || role === 'watches'
/** Whether the role needs the log store. */
export const usesStore = (role: Role): boolean => role !== 'gateway'
