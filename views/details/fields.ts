import { printTerm } from '../../shared/query/term.ts'
import type { Entry } from '../flow-layout/types.ts'
import type { WholeValue } from './types.ts'

/** The fields of an entry that it has whatever its payload and scopes hold; those without a value are left out. */
export function fieldsOf(entry: Entry): readonly WholeValue[] {
  const { level, environment, correlationKey } = entry
  const fields: (WholeValue | undefined)[] = [
    field('level', level),
    field('environment', environment),
    correlationKey === null ? undefined : field('correlationKey', correlationKey),
    ...(entry.kind === 'event'
      ? [reference('event', entry.event), reference('step', entry.step)]
      : [
          reference('project', { identifier: entry.project.id, name: entry.project.name }),
          field('category', entry.categoryName),
          entry.eventId === 0 ? undefined : field('eventId', String(entry.eventId)),
          entry.eventName === '' ? undefined : field('eventName', entry.eventName),
          entry.originalLevel === undefined
            ? undefined
            : { name: 'originalLevel', text: entry.originalLevel, term: null },
        ]),
    { name: 'timestamp', text: entry.timestamp, term: null },
    { name: 'receivedAt', text: entry.receivedAt, term: null },
    field('id', entry.id),
  ]
  return fields.filter((one) => one !== undefined)
}

const field = (name: string, value: string, text = value): WholeValue => ({
  name,
  text,
  term: value === '' ? null : printTerm({ field: name, value }),
})

function reference(
  name: string,
  of: { readonly identifier: string; readonly name: string | null } | null,
): WholeValue | undefined {
  if (of === null) return undefined
  const { identifier } = of
  return field(name, identifier, of.name === null || of.name === identifier ? identifier : `${of.name} (${identifier})`)
}
