import { Worker } from 'node:worker_threads'
import { statusMiB } from '../../bench/measured-process.ts'
import type { ProbeMessage, ProbeTargets } from './probe-thread.ts'
import type { Target } from './target.ts'

/** Most resident memory of one process, in MiB. */
export const MEMORY_MAX_MIB = 700
/** Below this a process that was above its bound may be told of again. */
const MEMORY_AGAIN_MIB = 550
const LOOK_MS = 250

export interface WatchOptions {
  readonly stalls: boolean
  readonly onStall: (name: string) => void
  readonly onStallOver: (name: string, tookMs: number) => void
  readonly onMemory: (name: string, mebibytes: number) => void
  readonly onComplaint: (line: string) => void
}

/** Watches the processes from outside: how soon they answer, what memory they take, what they say of themselves. */
export interface Watch {
  /** The most that each process took, in MiB. */
  peaks(): Readonly<Record<string, number>>
  stop(): Promise<void>
}

export function startWatch(target: Target, options: WatchOptions): Watch {
  const peaks: Record<string, number> = {}
  const above = new Set<string>()
  const probe = options.stalls ? startProbe(options) : undefined

  function lookAtMemory(name: string, pid: number): void {
    const mebibytes = residentMiB(pid)
    peaks[name] = Math.max(peaks[name] ?? 0, mebibytes)
    if (mebibytes < MEMORY_AGAIN_MIB) above.delete(name)
    if (mebibytes <= MEMORY_MAX_MIB || above.has(name)) return
    above.add(name)
    options.onMemory(name, mebibytes)
  }

  function look(): void {
    const processes = target.processes()
    probe?.postMessage(processes.map(({ name, port }) => ({ name, port })) satisfies ProbeTargets)
    for (const { name, pid } of processes) lookAtMemory(name, pid)
    for (const line of target.complaints()) options.onComplaint(line)
  }
  look()
  const timer = setInterval(look, LOOK_MS)
  return {
    peaks: () => peaks,
    stop: async () => {
      clearInterval(timer)
      look()
      await probe?.terminate()
    },
  }
}

function startProbe({ onStall, onStallOver }: WatchOptions): Worker {
  const worker = new Worker(new URL('./probe-thread.ts', import.meta.url))
  worker.on('message', ({ name, state, afterMs }: ProbeMessage) => {
    if (state === 'overdue') onStall(name)
    else onStallOver(name, afterMs)
  })
  return worker
}

/** 0 of a process that is gone. */
function residentMiB(pid: number): number {
  try {
    return statusMiB(pid, 'VmRSS')
  } catch {
    return 0
  }
}
