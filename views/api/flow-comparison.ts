import { levelRank } from '../../shared/contract/levels.ts'
import type { ComparedStep, FlowComparison, FlowStep } from '../schemas/answers.ts'
import type { Answer } from './call.ts'
import { shownOf, stepsOf, summaryOf } from './flow-summary.ts'
import { flowsOf } from './flows.ts'
import { HALF_PAGE_CHARACTERS_MAX, within } from './page.ts'

/** Maximum number of Steps in an answer. */
const STEPS_MAX = 1_000

/** A Step counts as slower when it took this many times as long as in the other flow, and at least this many milliseconds longer. */
const SLOWER_TIMES = 2
const SLOWER_MIN_MS = 100

/** Two flows side by side: the Steps of both, and how the first differs. */
export const compareFlows: Answer = async (call, tools) => {
  const { team, names } = call
  const [flow, other] = await flowsOf(call, tools)
  const now = tools.clock.now()
  const waits = await tools.waits.of(team, names)
  const [own, others] = [rowsByPlace(stepsOf(flow, names)), rowsByPlace(stepsOf(other, names))]
  // Steps of only one flow are ordered among those of both.
  const all = stepsOf({ ...flow, groups: [...flow.groups, ...other.groups] }, names)
  const steps = within(
    all.slice(0, STEPS_MAX).map((row) => comparedStep(row, own.get(placeOf(row)), others.get(placeOf(row)))),
    HALF_PAGE_CHARACTERS_MAX,
  )
  return {
    flow: shownOf(summaryOf(flow, names, now, waits)),
    other: shownOf(summaryOf(other, names, now, waits)),
    steps,
    more: all.length > steps.length,
  } satisfies FlowComparison
}

const placeOf = ({ event, step }: Pick<FlowStep, 'event' | 'step'>): string =>
  JSON.stringify([event?.identifier, step.identifier])

const rowsByPlace = (steps: readonly FlowStep[]): ReadonlyMap<string, FlowStep> =>
  new Map(steps.map((step) => [placeOf(step), step]))

function comparedStep({ event, step }: FlowStep, own?: FlowStep, other?: FlowStep): ComparedStep {
  const visits = { flow: visitOf(own), other: visitOf(other) }
  const slowerBy = differenceOf(visits.flow?.duration, visits.other?.duration)
  return { event, step, ...visits, slowerBy, differences: differencesOf(visits, slowerBy) }
}

function visitOf(row: FlowStep | undefined): ComparedStep['flow'] {
  if (row === undefined || row.firstAt === null || row.lastAt === null) return null
  const { firstAt, lastAt, duration, count, worstLevel } = row
  return { firstAt, lastAt, duration, count, worstLevel }
}

const differenceOf = (own: number | null = null, other: number | null = null): number | null =>
  own === null || other === null ? null : own - other

function differencesOf(
  { flow, other }: Pick<ComparedStep, 'flow' | 'other'>,
  slowerBy: number | null,
): ComparedStep['differences'] {
  if (flow === null) return other === null ? [] : ['missing']
  const isError = (visit: typeof flow): boolean => levelRank(visit.worstLevel ?? 'Trace') >= levelRank('Error')
  const isFailed = isError(flow) && (other === null || !isError(other))
  const isSlower =
    slowerBy !== null && slowerBy >= SLOWER_MIN_MS && (flow.duration ?? 0) >= SLOWER_TIMES * (other?.duration ?? 0)
  return [
    ...(other === null ? (['added'] as const) : []),
    ...(isFailed ? (['failed'] as const) : []),
    ...(isSlower ? (['slower'] as const) : []),
  ]
}
