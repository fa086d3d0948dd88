import type { Page } from 'playwright-core'
import type { Browse } from '../browser.ts'
import type { OpenOptions, OpenPage } from '../open-page.ts'
import type { Stand, StandTeam } from '../page-stand.ts'

/** Where scenarios are played. Every page of theirs fails its test by an error in the console or a request elsewhere. */
export interface Stage extends Browse {
  stand(): Stand
  /** Opens a page of the stand, signed in with the Team's key; it may read and write the clipboard. */
  show(team: StandTeam, path: string, options?: OpenOptions): Promise<OpenPage>
}

export const MINUTE = 60_000

/** Nothing has to be scrolled sideways. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')

/** A copied text is in the clipboard a moment after the click. */
export const CLIPBOARD = 'navigator.clipboard.readText()'
