export { PAGES } from '../../pages.ts'

/** Where one comes to without saying where to. */
export const START = 'event-logs'
