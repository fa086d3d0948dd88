// The pages that change a Team are one part of the page: as two, what they share would be a third.

export { TeamPage } from './team/team-page.tsx'
export { WatchesPage } from './watches/watches-page.tsx'
