import { refusalItems } from '../refusals/items.ts'
import type { Answer } from './call.ts'
import { unavailable } from './problems.ts'

/** The Team's latest refusals, newest first. */
export const listRefusals: Answer = async ({ team, values: { code, limit } }, { registry, refusals }) => {
  const kept = refusals.of(team)
  if (kept === undefined) throw unavailable('The refusals are still being read.')
  const chosen = kept.filter(({ noted }) => code === null || noted.code === code)
  return { items: refusalItems(chosen.slice(0, limit), registry, team) }
}
