import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { statusMiB } from '../../bench/measured-process.ts'
import { preferSession } from '../support/sluice-process.ts'
import type { ProbeMessage } from './probe.ts'
import type { Target } from './target.ts'

/** Most resident memory of one process, in MiB. */
export const MEMORY_MAX_MIB = 700
/** Below this a process that was above its bound may be told of again. */
const MEMORY_AGAIN_MIB = 550
const LOOK_MS = 250

/** A wait for the health of a process. */
export type Stall = Pick<ProbeMessage, 'afterMs' | 'ranMs'>

export interface WatchOptions {
  readonly stalls: boolean
  readonly onStall: (name: string) => void
  /** Undefined where it was none after all. */
  readonly onStallOver: (name: string, stall: Stall | undefined) => void
  readonly onMemory: (name: string, mebibytes: number) => void
  readonly onComplaint: (line: string) => void
}

/** Watches the processes from outside: how soon they answer, what memory they take, what they say of themselves. */
export interface Watch {
  /** The most that each process took, in MiB. */
  peaks(): Readonly<Record<string, number>>
  /** The longest wait for the health of each process, in ms; none where stalls are not judged. */
  longestWaits(): Readonly<Record<string, number>>
  stop(): Promise<void>
}

export function startWatch(target: Target, options: WatchOptions): Watch {
  const peaks: Record<string, number> = {}
  const above = new Set<string>()
  const waits: Record<string, number> = {}
  const onAnswer = (name: string, afterMs: number): void => {
    waits[name] = Math.max(waits[name] ?? 0, afterMs)
  }
  const probe = options.stalls ? startProbe(options, onAnswer) : undefined

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
    if (probe?.connected === true && !probe.killed) probe.send(processes)
    for (const { name, pid } of processes) lookAtMemory(name, pid)
    for (const line of target.complaints()) options.onComplaint(line)
  }
  look()
  const timer = setInterval(look, LOOK_MS)
  return {
    peaks: () => peaks,
    longestWaits: () => waits,
    stop: async () => {
      clearInterval(timer)
      look()
      probe?.kill()
    },
  }
}

/** Where processes share few cores, a thread may have waited for one: short of a second only the time in which it ran counts. */
const STALL_MS = 250
const STALL_WHATEVER_MS = 1_000
const isStall = ({ afterMs, ranMs }: Stall): boolean => ranMs > STALL_MS || afterMs > STALL_WHATEVER_MS

function startProbe(
  { onStall, onStallOver }: WatchOptions,
  onAnswer: (name: string, afterMs: number) => void,
): ChildProcess {
  const probe = fork(fileURLToPath(new URL('./probe.ts', import.meta.url)), { detached: true })
  preferSession(probe.pid, -20)
  probe.on('message', (message) => {
    const { name, state, ...stall } = message as ProbeMessage
    if (state === 'overdue') return onStall(name)
    onAnswer(name, stall.afterMs)
    if (stall.afterMs > STALL_MS) onStallOver(name, isStall(stall) ? stall : undefined)
  })
  return probe
}

/** 0 of a process that is gone. */
function residentMiB(pid: number): number {
  try {
    return statusMiB(pid, 'VmRSS')
  } catch {
    return 0
  }
}
