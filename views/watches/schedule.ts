import type { KnownWatch, WatchBook } from './book.ts'

/** The name of a watch among those of all Teams. */
export const keyOf = ({ team, id }: KnownWatch): string => `${team}/${id}`

/** Each failure in a row doubles the interval of a condition, at most this many times. */
const DOUBLED_MAX = 5

export type Schedule = ReturnType<typeof createSchedule>

/** When each watch is due next (`performance.now()`), and when it was evaluated, until that is written to the book. */
export function createSchedule(book: WatchBook, intervalMs: number) {
  let dueAt = new Map<string, { readonly at: number; readonly since: string; readonly failures: number }>()
  const unwritten = new Map<string, { readonly watch: KnownWatch; readonly at: string }>()
  return {
    /** Forgets all other watches. A new watch is due at once; one evaluated elsewhere before, at a random time within the interval. */
    keep: (watches: readonly KnownWatch[]): void => {
      const kept: typeof dueAt = new Map()
      for (const watch of watches) {
        const { since, lastEvaluatedAt } = watch
        const known = dueAt.get(keyOf(watch))
        const waitMs = known === undefined && lastEvaluatedAt !== null ? Math.random() * intervalMs : 0
        kept.set(keyOf(watch), known?.since === since ? known : { at: performance.now() + waitMs, since, failures: 0 })
      }
      dueAt = kept
    },
    /** The due watches, longest overdue first. */
    due: (watches: readonly KnownWatch[]): readonly KnownWatch[] => {
      const atOf = (watch: KnownWatch): number => dueAt.get(keyOf(watch))?.at ?? Number.POSITIVE_INFINITY
      return watches.filter((watch) => atOf(watch) <= performance.now()).toSorted((a, b) => atOf(a) - atOf(b))
    },
    /** Plans the evaluation after the one at `evaluatedAt`, which is null if it broke. Each failure in a row doubles the interval. */
    done: (watch: KnownWatch, evaluatedAt: string | null, failed = evaluatedAt === null): void => {
      const failures = failed ? Math.min((dueAt.get(keyOf(watch))?.failures ?? 0) + 1, DOUBLED_MAX) : 0
      dueAt.set(keyOf(watch), { at: performance.now() + intervalMs * 2 ** failures, since: watch.since, failures })
      if (evaluatedAt !== null) unwritten.set(keyOf(watch), { watch, at: evaluatedAt })
    },
    /** Whether a watch was evaluated for the first time, which somebody may be waiting to see. */
    hasFirst: (): boolean =>
      [...unwritten.values()].some(({ watch: { team, id } }) => book.find(team, id)?.lastEvaluatedAt === null),
    /** Drops what is not written: the process that evaluates the watches now has later times. */
    forget: (): void => unwritten.clear(),
    write: async (): Promise<void> => {
      for (const [team, own] of Map.groupBy([...unwritten.values()], ({ watch }) => watch.team)) {
        const times = book.of(team).flatMap((watch) => {
          const at = unwritten.get(keyOf(watch))?.at ?? watch.lastEvaluatedAt
          return at === null ? [] : [[watch.id, at]]
        })
        await book.noteEvaluations(team, Object.fromEntries(times))
        for (const one of own) if (unwritten.get(keyOf(one.watch)) === one) unwritten.delete(keyOf(one.watch))
      }
    },
  }
}
