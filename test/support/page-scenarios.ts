import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import { describeWithBrowser } from './browser.ts'
import { type Stage, type Stand, type Teams, teamsOf } from './page-stand.ts'
import { entranceScenarios } from './scenarios/entrance.ts'
import { flowScenarios } from './scenarios/flow.ts'
import { listScenarios } from './scenarios/lists.ts'
import { readerScenarios } from './scenarios/readers.ts'
import { teamScenarios } from './scenarios/team.ts'

const SCENARIOS = {
  'signing in': entranceScenarios,
  'the log lists': listScenarios,
  flows: flowScenarios,
  'the Team, its refused logs and its first minute': teamScenarios,
  'whoever reads it': readerScenarios,
}

/** All that the page is for, played in a browser on the stand that `start` gives: the same on every kind of stand, and `more` on this one. */
export function describePageScenarios(
  name: string,
  start: () => Promise<Stand>,
  more: Record<string, (stage: Stage) => void> = {},
): void {
  describeWithBrowser(name, (browse) => {
    let stand: Stand
    let teams: Teams
    beforeAll(async () => {
      stand = await start()
    }, 180_000)
    afterAll(() => stand?.close(), 60_000)
    beforeEach(({ task }) => {
      teams = teamsOf(task.result?.retryCount ?? 0)
    })
    const stage: Stage = {
      ...browse,
      stand: () => stand,
      teams: () => teams,
      show: async (team, path, options = {}) => {
        const opened = await browse.open(stand.page, { key: team.key, path, ...options })
        await opened.context.grantPermissions(['clipboard-read', 'clipboard-write'])
        return opened
      },
    }
    for (const [part, play] of Object.entries({ ...SCENARIOS, ...more })) describe(part, () => play(stage))
  })
}
