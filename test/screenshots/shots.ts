import type { Page } from 'playwright-core'
import { TOLD_FLOW } from '../support/busy-team.ts'

/** The state of the server: nothing stored yet, or days of logs; or its log store does not answer; or it is gone once the page is there. */
export type State = 'empty' | 'busy' | 'failing' | 'away'

export interface Shot {
  readonly name: string
  readonly path: string
  readonly state: State
  /** Whether one is signed in; by default one is. */
  readonly signedIn?: boolean
  /** Steps before the picture is taken. */
  readonly act?: (page: Page) => Promise<void>
}

/** The pictures in `docs/images` by their shots, wide and light, and the height in pixels to which they are cut. */
export const DOCUMENTED: Readonly<Record<string, readonly [name: string, height: number]>> = {
  'flow-busy': ['flow', 900],
  'application-logs-busy': ['application-logs', 900],
  chart: ['chart', 700],
  'flows-steps': ['flow-steps', 525],
  'refused-open': ['refused-logs', 900],
}

const PAGES = [
  ['event-logs', '/event-logs'],
  ['application-logs', '/application-logs'],
  ['flows', '/flows'],
  ['flow', `/flows/${TOLD_FLOW}`],
  ['team', '/team'],
  ['refused', '/refused'],
  ['watches', '/watches'],
] as const

const press =
  (...keys: readonly string[]): NonNullable<Shot['act']> =>
  async (page) => {
    for (const key of keys) await page.keyboard.press(key)
  }

/** Every picture that is taken, each light and dark, wide and narrow. */
export const SHOTS: readonly Shot[] = [
  { name: 'sign-in', path: '/', state: 'empty', signedIn: false },
  ...PAGES.flatMap(([name, path]) =>
    (['empty', 'busy', 'failing'] as const).map((state): Shot => ({ name: `${name}-${state}`, path, state })),
  ),
  { name: 'watch-new', path: '/watches?new=event-logs&q=declined&level=Error&environment=Production', state: 'busy' },
  { name: 'away', path: '/event-logs', state: 'away', act: press('a') },
  {
    name: 'session-over',
    path: '/application-logs',
    state: 'busy',
    act: async (page) => {
      await page.context().clearCookies()
      await page.keyboard.press('e')
    },
  },
  { name: 'help', path: '/event-logs', state: 'busy', act: press('?') },
  {
    name: 'palette',
    path: '/flows',
    state: 'busy',
    act: async (page) => {
      await page.keyboard.press('Control+k')
      await page.keyboard.type('order-48')
      await page.getByRole('option', { name: 'The flow order-48' }).waitFor()
    },
  },
  { name: 'menu', path: '/event-logs', state: 'busy', act: (page) => page.locator('.team').click() },
  {
    name: 'team-code',
    path: '/team',
    state: 'busy',
    act: (page) => page.getByRole('button', { name: 'Code that sends to Checkout API' }).click(),
  },
  {
    name: 'team-new-step',
    path: '/team',
    state: 'busy',
    act: (page) => page.getByRole('button', { name: 'New Step' }).click(),
  },
  {
    name: 'team-new-key',
    path: '/team',
    state: 'busy',
    act: (page) => page.getByRole('button', { name: 'New key' }).click(),
  },
  {
    name: 'refused-open',
    path: '/refused',
    state: 'busy',
    act: (page) => page.locator('summary').first().click(),
  },
  {
    name: 'chart',
    path: '/application-logs?chart=p95&value=scope.ms&by=project',
    state: 'busy',
    act: async (page) => {
      const lines = page.locator('.lines svg')
      const { width = 0 } = (await lines.boundingBox()) ?? {}
      await lines.hover({ position: { x: 0.94 * width, y: 60 } })
    },
  },
  { name: 'chart-count', path: '/event-logs?chart=count&by=step', state: 'busy' },
  { name: 'chart-none', path: '/application-logs?chart=avg&value=scope.tenant', state: 'busy' },
  { name: 'chart-refused', path: '/application-logs?chart=avg&value=scope.ms&by=message', state: 'busy' },
  { name: 'flows-steps', path: '/flows?view=steps', state: 'busy' },
  { name: 'groups-template', path: '/application-logs?group=template&from=now-7d', state: 'busy' },
  { name: 'groups-exception', path: '/application-logs?group=exception&from=now-7d', state: 'busy' },
  { name: 'groups-none', path: '/application-logs?group=exception&q=nothing-has-this', state: 'busy' },
  {
    name: 'group-chosen',
    path: '/application-logs?group=template&from=now-7d',
    state: 'busy',
    act: (page) => page.locator('.groups a').first().click(),
  },
  {
    name: 'columns',
    path: '/application-logs?columns=level,category,scope.tenant,eventName,message,correlationKey',
    state: 'busy',
    act: (page) => page.getByRole('button', { name: 'Columns', exact: true }).click(),
  },
  {
    name: 'columns-chosen',
    path: '/event-logs?columns=level,step,payload.order,payload,correlationKey',
    state: 'busy',
  },
  {
    name: 'saved-searches',
    path: '/application-logs?level=Error&from=now-7d',
    state: 'busy',
    act: async (page) => {
      await page.getByRole('button', { name: 'Saved', exact: true }).click()
      // One search for all pictures.
      await page.locator('.menu-form :is(p.muted, a)').first().waitFor()
      const saved = await page.getByRole('link', { name: 'Errors of a week' }).count()
      if (saved === 0) await page.getByLabel('Save this search for the Team as').fill('Errors of a week')
      if (saved === 0) await press('Enter')(page)
      await page
        .getByRole('button', { name: /^Rename/ })
        .first()
        .click()
    },
  },
  { name: 'row-open', path: '/application-logs?level=Error', state: 'busy', act: press('j', 'Enter') },
  { name: 'no-match', path: '/event-logs?q=nothing-has-this', state: 'busy' },
  { name: 'not-a-query', path: '/event-logs?q=level:>=(', state: 'busy' },
]
