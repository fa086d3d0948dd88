import type { EntryKind } from '../../shared/contract/records.ts'
import type { EntryFilter, GroupField, LogStoreReader } from '../../shared/log-store/log-store.ts'
import { printTerm } from '../../shared/query/term.ts'
import type { Series } from '../schemas/answers.ts'
import type { Call, EntryAnswer } from './call.ts'
import { filterOf } from './filter.ts'
import { groupingOf, numbersOf } from './grouping.ts'
import { groupText } from './groups.ts'
import { nameOf } from './names.ts'
import { invalidParameters } from './problems.ts'

/** A number computed from the selected entries, over time. */
export const seriesOfEntries: EntryAnswer = async (call, { store }) => {
  const { kind } = call
  const { fn, value, by, series: seriesMax, buckets: bucketsMax } = call.values
  if (value === null && fn !== 'count')
    throw invalidParameters([
      { path: 'value', message: `must name the numbers that ${fn} is of, such as ${SUCH_AS[kind]}` },
    ])
  const of = value === null ? null : numbersOf(kind, value)
  const grouping = by === null ? null : groupingOf(kind, by)
  const request = { fn, of, by: grouping?.field ?? null, seriesMax, bucketsMax }
  const filter = filterOf(call)
  const found = await store.series(filter, request, call.signal)
  const items: Series['items'][number][] = []
  for (const one of found.series) {
    const term = grouping === null ? null : termOf(grouping, one.value)
    items.push({ ...one, label: await labelOf(one.value, grouping?.field, filter, call, store), term })
  }
  return {
    fn,
    value: of === null ? null : `${of.field}.${of.path}`,
    by: grouping?.by ?? null,
    interval: found.intervalMs,
    spans: found.spans,
    items,
    more: found.more,
  } satisfies Series
}

/** The text of a group, derived from its newest log; else the name of the value in the registry, or the value. */
async function labelOf(
  value: string | null,
  field: GroupField | undefined,
  filter: EntryFilter,
  call: Call,
  store: LogStoreReader,
): Promise<string | null> {
  if (value === null || field === undefined) return value
  if (!isGroup(field)) return nameOf(field, value, call.names)
  const newest = { limit: 1, order: 'desc', after: null } as const
  const { entries } = await store.search({ ...filter, [field]: value }, newest, call.signal)
  return (entries[0] && groupText(field, entries[0])?.label) ?? value
}

/** Whether the values of a field are hashes, which stand for groups and have parameters of their own. */
const isGroup = (field: GroupField): field is 'template' | 'exceptionGroup' =>
  field === 'template' || field === 'exceptionGroup'

/** A term for exactly this value: `trace:` would take no other than hexadecimal digits, and find them in any case. */
const termOf = ({ by, field }: ReturnType<typeof groupingOf>, value: string | null): string | null =>
  value === null || isGroup(field)
    ? null
    : printTerm({ field: typeof field === 'string' ? by : `${field.field}.${field.path}`, value })

const SUCH_AS = { event: 'payload.total', application: 'scope.ms' } as const satisfies Record<EntryKind, string>
