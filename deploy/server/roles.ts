/** The work of a process: everything, or one part of the way of an entry. */
export const ROLES = ['all', 'gateway', 'consumers', 'views', 'watches'] as const

export type Role = (typeof ROLES)[number]

export const takesLogs = (role: Role): boolean => role === 'all' || role === 'gateway'
export const indexesLogs = (role: Role): boolean => role === 'all' || role === 'consumers'
export const showsLogs = (role: Role): boolean => role === 'all' || role === 'views'
export const evaluatesWatches = (role: Role): boolean => role === 'all' || role === 'watches'
/** Whether the log store is needed; a gateway opens none. */
export const usesStore = (role: Role): boolean => role !== 'gateway'
