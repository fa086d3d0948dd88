import { searchText } from '../../shared/contract/keyword.ts'
import type { EntryFilter, Flow } from '../../shared/log-store/log-store.ts'
import type { FlowStateCounts } from '../schemas/answers.ts'
import type { Answer, Call, Tools } from './call.ts'
import { decodeCursor, decodeFlowCursor, encodeFlowCursor } from './cursor.ts'
import { entryFilter, flowFilter } from './filter.ts'
import { statesAt } from './flow-state.ts'
import { shownOf, shownText, stepsOf, summaryOf } from './flow-summary.ts'
import { HALF_PAGE_CHARACTERS_MAX, listText, pageText, textsWithin, within } from './page.ts'
import type { Values } from './parameters.ts'
import { invalidParameters, notFound } from './problems.ts'

/** Placeholder in the path for a key that is given by the parameter `key`. */
const KEY_ELSEWHERE = '-'

/** A page of flows; with a correlationKey, that flow or none. States are determined at the time of the first page. */
export const listFlows: Answer = async ({ team, values, names, signal }, { store, clock, waits }) => {
  const learnt = await waits.of(team, names)
  if (values.correlationKey !== null) {
    refuseOthers(values)
    const flow = await store.flow(team, searchText(values.correlationKey), signal)
    return {
      items: flow === undefined ? [] : [shownOf(summaryOf(flow, names, clock.now(), learnt))],
      nextCursor: null,
    }
  }
  const { limit, sort, state } = values
  const { now, after } = decodeFlowCursor(sort, values.cursor) ?? { now: clock.now(), after: null }
  const filter = flowFilter(team, values, state === null ? null : statesAt(now, names, learnt))
  const { flows, next } = await store.searchFlows(filter, { limit, sort, after }, signal)
  const listed = flows
    .map((flow) => ({ flow, summary: summaryOf(flow, names, now, learnt) }))
    // A flow's entries may be newer than the index that it was found by.
    .filter(({ summary }) => state === null || summary.state === state)
  const texts = textsWithin(listed, ({ summary }) => shownText(summary))
  const cutAt = texts.length < listed.length ? listed[texts.length - 1]?.flow : undefined
  const goOn = cutAt ?? next
  return listText(texts, { nextCursor: goOn === null ? null : encodeFlowCursor(sort, now, goOn) })
}

/** The number of flows in each state, now. */
export const countFlows: Answer = async ({ team, values, names, signal }, { store, clock, waits }) => {
  const states = statesAt(clock.now(), names, await waits.of(team, names))
  const counts = await store.countFlows(flowFilter(team, values, null), states, signal)
  return { states: counts } satisfies FlowStateCounts
}

/** Parameters that do not apply here: a key identifies one flow regardless of its entries, and a parameter without effect is refused. */
const BESIDE_KEY = ['q', 'from', 'to', 'level', 'environment', 'event', 'step', 'project', 'state', 'cursor'] as const

function refuseOthers(values: Values): void {
  const others = BESIDE_KEY.filter((name) => values[name] !== null)
  if (others.length > 0)
    throw invalidParameters(others.map((path) => ({ path, message: 'is not taken beside correlationKey' })))
}

/** One flow: a summary, its Steps, and a page of its entries of both kinds, oldest first. */
export const oneFlow: Answer = async (call, tools) => {
  const { values, names } = call
  const after = decodeCursor('asc', values.cursor)
  const flow = await flowOf(call, tools)
  const request = { limit: values.limit, order: 'asc', after, form: 'row' } as const
  const page = await tools.store.search(flowEntries(call), request, call.signal)
  const summary = shownOf(summaryOf(flow, names, tools.clock.now(), await tools.waits.of(call.team, names)))
  const steps = within(stepsOf(flow, names), HALF_PAGE_CHARACTERS_MAX)
  return pageText(page, 'asc', names, { summary, steps, projects: summary.projects }, HALF_PAGE_CHARACTERS_MAX)
}

/** The flow that the path names; throws `not_found` when the Team has no entry with its key. */
export const flowOf = (call: Call, tools: Tools): Promise<Flow> => flowOfKey(keyOf(call), call, tools)

/** The flow that the path names, and the flow it is compared with; throws like `flowOf`. */
export function flowsOf(call: Call, tools: Tools): Promise<readonly [Flow, Flow]> {
  // Both keys are validated first: if the second were refused while the first flow is read, nobody would await that read.
  const [key, other] = [keyOf(call), pathKey('other', call.other, call.values.other)]
  return Promise.all([flowOfKey(key, call, tools), flowOfKey(other, call, tools)])
}

async function flowOfKey(key: string, { team, signal }: Call, { store }: Tools): Promise<Flow> {
  const flow = await store.flow(team, key, signal)
  if (flow === undefined)
    throw notFound(
      `There is no entry with the correlationKey ${key}.`,
      'Check the key; /api/flows?q= finds keys by a part, in any case.',
    )
  return flow
}

/** The flow's entries of both kinds that the parameters select. */
export const flowEntries = (call: Call): EntryFilter => ({
  ...entryFilter(call, []).filter,
  correlationKey: keyOf(call),
})

const keyOf = ({ subject, values }: Call): string => pathKey('key', subject, values.key)

/**
 * A correlationKey from the path, normalised like stored ones. URL parsers remove `.` and `..` from a path even when percent-encoded
 * (WHATWG URL, 4.4), so these two can only be given as a parameter.
 */
function pathKey(path: 'key' | 'other', subject: string, parameter: string | null): string {
  if (parameter === null) return searchText(subject)
  if (subject !== KEY_ELSEWHERE)
    throw invalidParameters([{ path, message: `needs ${KEY_ELSEWHERE} as the correlationKey in the path` }])
  return searchText(parameter)
}
