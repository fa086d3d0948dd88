import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { statusMiB } from '../../bench/measured-process.ts'
import { preferSession } from '../support/sluice-process.ts'
import type { ProbeMessage } from './probe.ts'
import type { Target } from './target.ts'

/**
 * Maximum resident memory per process, in MiB. All attacks at once take a process with all roles, whose threads have a heap each, to 700
 * and, at worst, 830 MiB; it does not grow beyond that while they last.
 */
const MEMORY_MAX_MIB = 1_000
/** A process that exceeded the maximum is reported again only after falling below this. */
const MEMORY_AGAIN_MIB = 800
const LOOK_MS = 250

/** A slow health response of a process. */
export type Stall = Pick<ProbeMessage, 'afterMs' | 'ranMs'>

export interface WatchOptions {
  readonly stalls: boolean
  readonly onStall: (name: string) => void
  /** `stall` is undefined if it turned out not to be one. */
  readonly onStallOver: (name: string, stall: Stall | undefined) => void
  readonly onMemory: (name: string, mebibytes: number) => void
  readonly onComplaint: (line: string) => void
}

/** Monitors the processes from outside: response times, memory and log output. */
export interface Watch {
  /** The peak memory of each process, in MiB. */
  peaks(): Readonly<Record<string, number>>
  /** The longest wait for each process's health, in ms; empty if stalls are not checked. */
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

/** On few cores a thread may have waited for a CPU: below one second, only its own CPU time counts. */
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

/** 0 for a dead process. */
function residentMiB(pid: number): number {
  try {
    return statusMiB(pid, 'VmRSS')
  } catch {
    return 0
  }
}
