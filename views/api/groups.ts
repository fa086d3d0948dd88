import type { EntryRow, LongField } from '../../shared/contract/rows.ts'
import { exceptionGroupOf } from '../../shared/fingerprint/exception-group.ts'
import { templateOf } from '../../shared/fingerprint/template.ts'
import type { EntryGroup, GroupColumn, GroupField } from '../../shared/log-store/log-store.ts'
import { cut } from '../flow-layout/format.ts'
import type { Group, Groups } from '../schemas/answers.ts'
import { GROUPED_BY } from '../schemas/list-parameters.ts'
import type { Call, EntryAnswer, Tools } from './call.ts'
import { filterOf } from './filter.ts'
import { groupingOf } from './grouping.ts'
import { nameOf } from './names.ts'

const SPANS_MAX = 24
/** Maximum length of a sample's message. */
const SAMPLE_LENGTH_MAX = 500

/** The groups of the selected entries, largest first. */
export const groupsOfEntries: EntryAnswer = async (call, tools) => {
  const { kind, values, signal } = call
  const { by, field } = groupingOf(kind, values.by ?? GROUPED_BY[kind][0])
  const limits = { groupsMax: values.groups, bucketsMax: SPANS_MAX }
  const found = await tools.store.groups(filterOf(call), field, limits, signal)
  const items: Group[] = []
  for (const group of found.groups) items.push(await itemOf(group, field, call, tools))
  const { intervalMs, spans, more, ungrouped } = found
  return { by, interval: intervalMs, spans, items, more, ungrouped } satisfies Groups
}

async function itemOf({ sample, ...group }: EntryGroup, field: GroupField, call: Call, tools: Tools): Promise<Group> {
  const text = groupText(field, await sufficient(sample, field, call, tools)) ?? {
    label: nameOf(field, group.value, call.names),
    detail: null,
  }
  const message = cut(sample.kind === 'event' ? sample.payload : sample.message, SAMPLE_LENGTH_MAX).text
  return { ...group, ...text, sample: { id: sample.id, message } }
}

/** The long texts from which a group's label is derived. */
const MADE_OF: Readonly<Partial<Record<GroupColumn, readonly LongField[]>>> = {
  template: ['message', 'scopeData'],
  exceptionGroup: ['exception'],
}

/** The sample, read in full when its row lacks texts that the group's label is derived from. */
async function sufficient(sample: EntryRow, field: GroupField, { team, signal }: Call, { store }: Tools) {
  const madeOf = typeof field === 'string' ? MADE_OF[field] : undefined
  const isCut = sample.truncated?.some((name) => madeOf?.includes(name)) === true
  return (isCut ? await store.get(team, sample.kind, sample.id, signal) : undefined) ?? sample
}

type GroupText = Pick<Group, 'label' | 'detail'>

/** The label and detail of a group, derived from one of its entries; undefined for fields whose value is the label. */
export function groupText(field: GroupField, entry: EntryRow): GroupText | undefined {
  if (entry.kind === 'event') return undefined
  if (field === 'template') return { label: templateOf(entry) ?? '', detail: null }
  if (field !== 'exceptionGroup') return undefined
  const { type, frames } = exceptionGroupOf(entry.exception ?? '')
  return { label: type, detail: frames.length === 0 ? null : frames.join('\n') }
}
