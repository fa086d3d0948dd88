import type { EntryKind } from '../../shared/contract/records.ts'
import { successBody } from '../../shared/http/answer.ts'
import type { GroupField } from '../../shared/log-store/log-store.ts'
import type { Series } from '../schemas/answers.ts'
import type { Answer, Call } from './call.ts'
import { filterOf } from './entries.ts'
import { groupingOf, numbersOf } from './grouping.ts'
import { nameOf } from './groups.ts'
import { invalidParameters } from './problems.ts'

/** A number over time, of the entries that the parameters select. */
export const seriesOfEntries =
  (kind: EntryKind): Answer =>
  async (call, { store }) => {
    const { fn, value, by, series: seriesMax, buckets: bucketsMax } = call.values
    if (value === null && fn !== 'count')
      throw invalidParameters([
        { path: 'value', message: `must name the numbers that ${fn} is of, such as ${SUCH_AS[kind]}` },
      ])
    const of = value === null ? null : numbersOf(kind, value)
    const grouping = by === null ? null : groupingOf(kind, by)
    const request = { fn, of, by: grouping?.field ?? null, seriesMax, bucketsMax }
    const found = await store.series(filterOf(kind, call), request, call.signal)
    return successBody({
      fn,
      value: of === null ? null : `${of.field}.${of.path}`,
      by: grouping?.by ?? null,
      interval: found.intervalMs,
      spans: found.spans,
      items: found.series.map((one) => ({ ...one, label: labelOf(one.value, grouping?.field, call) })),
      more: found.more,
    } satisfies Series)
  }

const labelOf = (value: string | null, field: GroupField | undefined, call: Call): string | null =>
  value === null || field === undefined ? value : nameOf(field, value, call)

const SUCH_AS = { event: 'payload.total', application: 'scope.ms' } as const satisfies Record<EntryKind, string>
