import type { EntryKind } from '../../shared/contract/records.ts'
import { timestampOf } from '../../shared/contract/timestamp.ts'
import { successBody } from '../../shared/http/answer.ts'
import type { Answer } from './call.ts'
import { filterOf } from './entries.ts'
import type { Values } from './parameters.ts'

/** Parameters that select entries whatever their time is. */
const CONDITIONS = ['q', 'level', 'environment', 'correlationKey', 'event', 'step', 'project', 'category'] as const

/** Something that would show entries where a list is empty. */
interface Way {
  /** What it does, and the value that it takes away; null for one that takes no single value away. */
  readonly name: string
  readonly value: string | null
  /** The parameters to set; empty ones are taken away. */
  readonly params: Readonly<Record<string, string>>
  /** How many entries that would show, where it is known. */
  readonly total: number | null
}

const HOUR_MS = 3_600_000

/**
 * Why a list is empty, and what would show something; the best way is first. Whether there are entries of another time that match
 * is told before anything else, as then nothing is wrong with the conditions.
 */
export const absenceOfEntries =
  (kind: EntryKind): Answer =>
  async (call, { clock, store }) => {
    const { values } = call
    const filterWith = (changes: Partial<Values>) => filterOf(kind, { ...call, values: { ...values, ...changes } })
    const newestWith = async (changes: Partial<Values>): Promise<string | undefined> => {
      const page = { limit: 1, order: 'desc', after: null, form: 'row' } as const
      const { entries } = await store.search(filterWith({ ...changes, from: null, to: null }), page, call.signal)
      return entries[0]?.timestamp
    }
    const used = CONDITIONS.filter((name) => values[name] !== null)
    const none = Object.fromEntries(used.map((name) => [name, null]))
    const newest = await newestWith({})
    if (newest !== undefined) {
      const which = used.length === 0 ? '' : ' that matches'
      return successBody({
        kept: true,
        title: 'Nothing in this time',
        reason: `The newest log${which} is from ${agoText(clock.now() - Date.parse(newest))}.`,
        ways: waysTo(newest),
      })
    }
    const ways = used.map(
      async (name): Promise<Way> => ({
        name: `Remove ${name === 'q' ? 'the search' : name}`,
        value: values[name],
        params: { [name]: '' },
        total: (await store.histogram(filterWith({ [name]: null }), 1, call.signal)).total,
      }),
    )
    const all: Way = {
      name: 'Remove all',
      value: null,
      params: Object.fromEntries(used.map((name) => [name, ''])),
      total: null,
    }
    // Awaited together: whichever the reader does not wait for any more fails with the others.
    const [newestOfAll, ...counted] = await Promise.all([used.length > 0 ? newestWith(none) : undefined, ...ways])
    return successBody({
      kept: newestOfAll !== undefined,
      title: 'Nothing matches',
      reason: `No log of any time matches ${used.length > 1 ? 'all of these' : 'this'}.`,
      ways: [...(used.length > 1 ? [all] : []), ...counted],
    })
  }

function waysTo(newest: string): readonly Way[] {
  const at = Date.parse(newest)
  const way = (name: string, from: number, to: string): Way => ({
    name,
    value: null,
    params: { from: timestampOf(Math.max(0, from)), to },
    total: null,
  })
  return [way('Go to the newest log', at - HOUR_MS, timestampOf(at + 1)), way('Everything since then', at - 1, '')]
}

const UNITS = [
  ['d', 24 * HOUR_MS],
  ['h', HOUR_MS],
  ['m', 60_000],
] as const

/** `3 m ago`; a log may be ahead of the clock here. */
function agoText(ms: number): string {
  const size = Math.abs(ms)
  const [name, unit] = UNITS.find(([, least]) => size >= least) ?? ['s', 1_000]
  const text = `${Math.floor(size / unit)} ${name}`
  return ms < 0 ? `${text} ahead` : `${text} ago`
}
