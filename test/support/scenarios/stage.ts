import type { Browse } from '../browser.ts'
import type { OpenOptions, OpenPage } from '../open-page.ts'
import type { Stand, StandTeam } from '../page-stand.ts'

/** Where scenarios run. An error in a page's console, or a request to another origin, fails the test. */
export interface Stage extends Browse {
  stand(): Stand
  /** Opens a page of the stand, signed in with the Team's key; it may read and write the clipboard. */
  show(team: StandTeam, path: string, options?: OpenOptions): Promise<OpenPage>
}

export const MINUTE = 60_000
