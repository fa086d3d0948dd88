import { setTimeout as delay } from 'node:timers/promises'
import { PROJECTION_NAMES } from '../../consumers/projection.ts'
import { topicName } from '../../shared/contract/topics.ts'
import type { Levers } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import type { Fault, FaultProxy } from '../support/fault-proxy.ts'
import type { FullStack, Part } from '../support/full-stack.ts'
import { blockWrites, poisonOf } from '../support/full-stack.ts'
import type { LeaderMoves } from '../support/kafka.ts'

/** Everything that faults act on. */
export interface SoakRig {
  readonly stack: FullStack
  /** Two processes of each role. */
  readonly gateways: readonly [Part, Part]
  readonly consumers: readonly [Part, Part]
  readonly kafka: Levers
  readonly elasticsearch: Levers
  readonly moves: LeaderMoves
  /** Between the consumers and Elasticsearch. */
  readonly proxy: FaultProxy
}

/** The duration and target of a fault, drawn by the schedule. */
export interface Draw {
  readonly lastsMs: number
  /** Chooses one of several nodes or processes. */
  readonly which: number
}

interface SoakFault {
  /** The affected part; each part has at most one fault at a time. */
  readonly hurts: 'brokers' | 'store' | 'gateways' | 'consumers' | 'views' | 'topics'
  /** Causes the fault, lets it last, and repairs it. */
  readonly run: (rig: SoakRig, draw: Draw) => Promise<void>
}

const PATIENCE_MS = 120_000
const NODES = [1, 2, 3]
const nodeOf = ({ which }: Draw): number => NODES[which % NODES.length] ?? 1
const REFUSED = '{"error":{"type":"es_rejected_execution_exception","reason":"full"}}'

/** Pauses nodes for the fault's duration; all are resumed, whatever fails. */
async function frozen(levers: Levers, nodes: readonly number[], lastsMs: number): Promise<void> {
  try {
    await Promise.all(nodes.map((node) => levers.pause(node)))
    await delay(lastsMs)
  } finally {
    await Promise.allSettled(nodes.map((node) => levers.resume(node)))
  }
}

async function killed(levers: Levers, node: number, lastsMs: number): Promise<void> {
  await levers.kill(node)
  await delay(lastsMs)
  await levers.restart(node)
}

/**
 * Ends a process, and starts another in its place, as a supervisor does: again until it runs, as a process ends if it needs a server that
 * another fault has stopped.
 */
async function replaced(part: Part | undefined, signal: NodeJS.Signals, lastsMs: number): Promise<void> {
  await part?.end(signal)
  await delay(lastsMs)
  await eventually(async () => part?.start(), PATIENCE_MS)
}

/** Ends one of a role's two processes this way. */
const oneEnds = (hurts: 'gateways' | 'consumers', signal: NodeJS.Signals): SoakFault => ({
  hurts,
  run: (rig, { which, lastsMs }) => replaced(rig[hurts][which % 2], signal, lastsMs),
})

/** Freezes one of a role's two processes. */
const oneFreezes = (hurts: 'gateways' | 'consumers'): SoakFault => ({
  hurts,
  run: async (rig, { which, lastsMs }) => {
    const server = rig[hurts][which % 2]?.process()
    server?.kill('SIGSTOP')
    await delay(lastsMs)
    server?.kill('SIGCONT')
  },
})

/** Applies a fault to bulk requests for its duration. */
const bulks =
  (fault: (count: number, over: Promise<void>) => Fault): SoakFault['run'] =>
  async ({ proxy }, { lastsMs }) => {
    const over = Promise.withResolvers<void>()
    let count = 0
    proxy.inject(({ path }) => (path.startsWith('/_bulk') ? fault(count++, over.promise) : undefined))
    await delay(lastsMs)
    proxy.inject(() => undefined)
    over.resolve()
  }

const EVENTS = ['event-logs', 'event'] as const
const APPLICATIONS = ['application-logs', 'application'] as const
const AGAIN_MS = 1_000

/** Repeats an action for the fault's duration, at least once. */
async function again(lastsMs: number, act: () => Promise<void>): Promise<void> {
  const end = performance.now() + lastsMs
  do {
    await act()
    await delay(AGAIN_MS)
  } while (performance.now() < end)
}

/** Every fault in docs/faults.md that can happen at any time, and that the system recovers from by itself. */
export const SOAK_FAULTS = {
  'broker killed': {
    hurts: 'brokers',
    run: async ({ kafka, moves }, draw) => {
      await killed(kafka, nodeOf(draw), draw.lastsMs)
      await moves.inSync()
    },
  },
  'broker frozen': {
    hurts: 'brokers',
    run: async ({ kafka, moves }, draw) => {
      await frozen(kafka, [nodeOf(draw)], draw.lastsMs)
      await moves.inSync()
    },
  },
  'all brokers frozen': {
    hurts: 'brokers',
    run: async ({ kafka, moves }, { lastsMs }) => {
      await frozen(kafka, NODES, lastsMs)
      await moves.inSync()
    },
  },
  'leaders moved': {
    hurts: 'brokers',
    run: ({ moves }, { lastsMs }) => again(lastsMs, () => moves.rotate()),
  },
  'Elasticsearch killed': {
    hurts: 'store',
    run: ({ elasticsearch }, { lastsMs }) => killed(elasticsearch, 1, lastsMs),
  },
  'Elasticsearch frozen': {
    hurts: 'store',
    run: ({ elasticsearch }, { lastsMs }) => frozen(elasticsearch, [1], lastsMs),
  },
  'items of bulks answered 429': {
    hurts: 'store',
    run: (rig, draw) => {
      let items = draw.which
      return bulks(() => ({ fault: 'reject-items', chosen: () => (items++ * 7) % 10 < 3 }))(rig, draw)
    },
  },
  'bulks answered 429 and 503': {
    hurts: 'store',
    run: bulks((count) => ({ fault: 'answer', status: count % 2 === 0 ? 429 : 503, body: REFUSED })),
  },
  'answers to bulks lost': { hurts: 'store', run: bulks(() => ({ fault: 'lose-answer' })) },
  'bulks held': { hurts: 'store', run: bulks((_, until) => ({ fault: 'hold', until })) },
  'indices without writes': {
    hurts: 'store',
    run: async ({ stack }, { lastsMs }) => {
      await blockWrites(stack, true)
      await delay(lastsMs)
      await blockWrites(stack, null)
    },
  },
  'view rebuilt': {
    hurts: 'store',
    run: async ({ stack }, { which, lastsMs }) => {
      const view = PROJECTION_NAMES[which % PROJECTION_NAMES.length] ?? 'flows'
      const rebuild = ['views', 'rebuild', view, '--from', 'indices', '--take-over']
      const end = performance.now() + lastsMs
      const isOver = async (): Promise<boolean> => {
        await delay(AGAIN_MS / 10)
        return performance.now() > end
      }
      const first = await stack.command(rebuild, isOver)
      if (first.code === 0) return
      // The brokers, which keep the audit, may have a fault at the same time.
      await eventually(async () => {
        const { code, stderr } = await stack.command(rebuild)
        if (code !== 0) throw new Error(`the rebuild of ${view} ended with ${code}: ${stderr}`)
      }, 5 * PATIENCE_MS)
    },
  },
  'gateway killed': oneEnds('gateways', 'SIGKILL'),
  'gateway stopped': oneEnds('gateways', 'SIGTERM'),
  'gateway frozen': oneFreezes('gateways'),
  'consumers killed': oneEnds('consumers', 'SIGKILL'),
  'consumers stopped': oneEnds('consumers', 'SIGTERM'),
  'consumers frozen': oneFreezes('consumers'),
  'views killed': {
    hurts: 'views',
    run: ({ stack }, { lastsMs }) => replaced(stack.views, 'SIGKILL', lastsMs),
  },
  poison: {
    hurts: 'topics',
    run: ({ stack }, { which, lastsMs }) => {
      const [role, kind] = which % 2 === 0 ? EVENTS : APPLICATIONS
      const records = poisonOf(kind)
      const topic = topicName(stack.topicPrefix, role)
      let turn = which
      return again(lastsMs, async () => {
        const batch = { topic, partition: 0, records: records.slice(turn % records.length).slice(0, 1) }
        turn += 1
        // The brokers may have a fault at the same time.
        await eventually(() => stack.journal.append(batch).then(() => true), PATIENCE_MS)
      })
    },
  },
} as const satisfies Record<string, SoakFault>

export type SoakFaultName = keyof typeof SOAK_FAULTS
