/** Parameters of a list's address that select logs. */
export const SELECTING = [
  ...(['q', 'level', 'levelMax', 'environment', 'event', 'step', 'project', 'category'] as const),
  ...(['template', 'exceptionGroup'] as const),
] as const

/** Parameters of a list's address that a saved search keeps. */
export const SEARCH_PARAMETERS = [...SELECTING, 'from', 'to', 'order', 'columns', 'group'] as const
