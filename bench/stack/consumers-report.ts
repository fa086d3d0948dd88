import { median, ratio, table, whole } from '../numbers.ts'
import type { Indexing } from './consumers.ts'
import { type Goal, renderGoals } from './goals.ts'
import type { Searchable } from './searchable.ts'

export interface ConsumersResults {
  readonly documents: number
  readonly indexings: readonly Indexing[]
  /** The writers that the goals apply to. */
  readonly names: { readonly oneView: string; readonly loops: readonly string[] }
  readonly searchable: Searchable
}

const PER_CPU_SECOND_GOAL = 50_000
const OF_THE_LOOP_GOAL = 0.9
const SEARCHABLE_GOAL_MS = 5_000

const of = (runs: readonly Indexing[], pick: (run: Indexing) => number): number => median(runs.map(pick))

export function renderConsumers(results: ConsumersResults): string {
  const { documents, indexings, searchable, names } = results
  const runsOf = (writer: string): readonly Indexing[] => indexings.filter((run) => run.writer === writer)
  const rate = (writer: string): number => of(runsOf(writer), ({ documentsPerSecond }) => documentsPerSecond)
  const rows = [...new Set(indexings.map(({ writer }) => writer))].map((writer) => [
    writer,
    whole(rate(writer)),
    ...names.loops.map((loop) => ratio(rate(writer) / rate(loop))),
    whole(of(runsOf(writer), (run) => run.documentsPerCpuSecond)),
    of(runsOf(writer), (run) => run.elasticsearchMsPerThousand).toFixed(1),
    of(runsOf(writer), (run) => run.coresBusy).toFixed(1),
    whole(of(runsOf(writer), (run) => run.peakMiB)),
  ])
  const head = ['writer', 'documents/s', ...names.loops.map((loop) => `of the ${loop}`)]
  return `Real consumers (\`--role consumers\`) that read a topic of ${whole(documents)} application logs, which the gateway has written, into one
Elasticsearch node; one shard, no copies. The **bare loop** has the same documents ready in memory and sends them by \`_bulk\`, 1,000 a
request, to an index of the same mapping: it reads nothing, checks nothing and remembers nothing (\`bench/stack/bulk-loop.ts\`). Both are
measured between a fifth and nine tenths of the documents; the consumers' count in the store was exact in every run. All processes share
the machine's cores, so what a consumer uses Elasticsearch does not have: where **cores busy** (writer, Elasticsearch and broker) comes
close to the number of cores, a writer can be faster only by using less CPU.

The first two goals are from a time when a projection made no searchable names, no sort keys and numbers of values, and no fingerprints, and
read topics that were not compressed: a document took 18 µs of its CPU then.

${renderGoals(goalsOf(results, rate, runsOf))}
${table([...head, 'documents per CPU-s', 'Elasticsearch CPU ms per 1,000', 'cores busy', 'peak MiB'], rows)}
Answered to searchable, at ${whole(searchable.entriesPerSecond)} entries/s offered (half of what all views take here): p50
${whole(searchable.p50Ms)} ms, p99 ${whole(searchable.p99Ms)} ms over ${searchable.probes} entries looked for in Elasticsearch; failed or not found: ${searchable.failed}.
`
}

function goalsOf(
  { names, searchable }: ConsumersResults,
  rate: (writer: string) => number,
  runsOf: (writer: string) => readonly Indexing[],
): readonly Goal[] {
  const perCpuSecond = of(runsOf(names.oneView), ({ documentsPerCpuSecond }) => documentsPerCpuSecond)
  const { p99Ms } = searchable
  return [
    {
      name: 'one view: documents per consumer CPU-second',
      wanted: `at least ${whole(PER_CPU_SECOND_GOAL)}`,
      reached: whole(perCpuSecond),
      met: perCpuSecond >= PER_CPU_SECOND_GOAL,
    },
    ...names.loops.map((loop): Goal => {
      const share = rate(names.oneView) / rate(loop)
      return {
        name: `one view: documents/s of the ${loop}`,
        wanted: `at least ${OF_THE_LOOP_GOAL}`,
        reached: share.toFixed(3),
        met: share >= OF_THE_LOOP_GOAL,
      }
    }),
    {
      name: 'answered to searchable at half load, p99',
      wanted: `at most ${whole(SEARCHABLE_GOAL_MS)} ms`,
      reached: `${whole(p99Ms)} ms`,
      met: p99Ms <= SEARCHABLE_GOAL_MS,
    },
  ]
}
