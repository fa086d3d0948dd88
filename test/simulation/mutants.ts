import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A fault injected into the program, to see whether the simulation detects it. */
export interface Mutant {
  /** The file, relative to the repository root, and the code to replace, which occurs in it exactly once. */
  readonly file: string
  readonly code: string
  readonly by: string
  /** The simulation that finds it; `entries` by default. */
  readonly of?: 'teams'
  /** The seed at which the test begins, a little before the first that finds it, if from seed 1 that takes seconds; 1 by default. */
  readonly from?: number
}

const batch = 'consumers/batch.ts'
const batcher = 'gateway/publisher/batcher.ts'
const sender = 'gateway/publisher/sender.ts'

export const MUTANTS = {
  // Faults that the program once had.
  'commit-not-retried': {
    file: batch,
    code: 'await commitPatiently(batch, position, logger)',
    by: 'await batch.commit(position)',
  },
  'redelivered-counted-again': {
    from: 43,
    file: batch,
    code: 'known !== undefined && known.position <= offset ? known.history : NO_HISTORY',
    by: 'known?.history ?? NO_HISTORY',
  },
  'drain-timer-in-the-past': {
    from: 747,
    file: batcher,
    code: 'Math.max(0, deadline - performance.now())',
    by: 'deadline - performance.now()',
  },
  'linger-timer-in-the-past': {
    from: 36,
    file: 'gateway/publisher/schedule.ts',
    code: 'else if (timer === undefined && looking === undefined) linger(now)',
    by: 'else if (timer === undefined) linger(now)',
  },
  'projects-share-ids': {
    file: 'gateway/json-events/check.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
    code: 'endpoint: `${endpoint}/${project.id}`',
    by: 'endpoint',
  },
  // Rules that the first promise depends on.
  'commit-before-write': {
    file: batch,
    code: '        position = await settle(chunk, batch)\n        await commitPatiently(batch, position, logger)',
    by: '        position = (chunk.at(-1)?.offset ?? -1) + 1\n        await commitPatiently(batch, position, logger)\n        await settle(chunk, batch)',
  },
  'commit-whole-batch': {
    file: batch,
    code: 'await commitPatiently(batch, position, logger)',
    by: 'await commitPatiently(batch, (batch.records.at(-1)?.offset ?? -1) + 1, logger)',
  },
  'dead-letters-not-awaited': {
    file: batch,
    code: '() => deadLetters.append(bad)',
    by: 'async () => void deadLetters.append(bad).catch(() => {})',
  },
  'refused-by-store-dropped': {
    file: batch,
    code: "written.outcome === 'refused' ? deadLetter('refused_by_store', written.reason) : written.outcome",
    by: "written.outcome === 'refused' ? 'skipped' : written.outcome",
  },
  'unsettled-is-durable': { from: 75, file: sender, code: "return 'unsettled'", by: "return 'durable'" },
  'uncertain-is-refused': { from: 30, file: sender, code: "return 'uncertain'", by: "return 'refused'" },
  'late-answer-is-not-written': { file: batcher, code: "part.settle('unsettled')", by: "part.settle('expired')" },
  'answered-when-queued': {
    file: batcher,
    code: '      enqueue(part)\n',
    by: "      enqueue(part)\n      settle('durable')\n",
  },
  'repeats-get-new-ids': {
    file: 'gateway/ingest/request.ts',
    code: 'return { ...common, idOf, repeatKey: idOf(0) }',
    by: 'return { ...common, idOf: nextId, repeatKey: idOf(0) }',
  },
  'outcomes-misplaced': {
    file: 'gateway/publisher/publisher.ts',
    code: 'slice.places.push(place)',
    by: 'slice.places.push(slice.places.length)',
  },
  'failures-misplaced': {
    file: 'gateway/ingest/handlers.ts',
    code: 'places.push(index)',
    by: 'places.push(places.length)',
  },
  'flows-not-awaited': {
    file: 'consumers/projection.ts',
    code: 'await store.mergeFlows(foldFlows(counted()), signal)',
    by: 'void store.mergeFlows(foldFlows(counted()), signal).catch(() => {})',
  },
  'not-planned-again': {
    from: 299,
    of: 'teams',
    file: 'shared/registry/apply-plan.ts',
    code: 'correctionsOf(applied, read, replanned)',
    by: '[]',
  },
  'unread-is-not-written': {
    of: 'teams',
    file: 'shared/registry/journal-access.ts',
    code: "could not be read after the change', 'unknown'",
    by: "could not be read after the change', 'not_written'",
  },
  'searches-not-taken-back': {
    from: 314,
    of: 'teams',
    file: 'shared/registry/search-admin.ts',
    code: 'const because = refusalIn(state)',
    by: 'const because = undefined',
  },
  'not-audited': {
    of: 'teams',
    file: 'shared/journal/audit.ts',
    code: "outcome: 'pending', ...origin",
    by: "outcome: 'success', ...origin",
  },
} as const satisfies Record<string, Mutant>

export type MutantName = keyof typeof MUTANTS

export const isMutantName = (name: string): name is MutantName => Object.hasOwn(MUTANTS, name)

const ROOT = join(import.meta.dirname, '../..')

/** Makes Node load the program with the fault. To be called before the program is imported. */
export function putIn({ file, code, by }: Mutant): void {
  const path = join(ROOT, file)
  if (readFileSync(path, 'utf8').split(code).length !== 2)
    throw new Error(`${file} does not have this code once: ${code}`)
  const mutated = pathToFileURL(path).href
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context)
      return url === mutated ? { ...loaded, source: String(loaded.source).replace(code, () => by) } : loaded
    },
  })
}
