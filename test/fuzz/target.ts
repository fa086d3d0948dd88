import type { Role } from './draft.ts'

/** A process of the running program. */
export interface Watched {
  readonly name: string
  readonly pid: number
  readonly port: number
}

/** The program under attack, in one or more processes; dead ones are restarted. */
export interface Target {
  /** The port of the process with this role. */
  port(role: Role): number
  processes(): readonly Watched[]
  /** The number of processes that have died so far. */
  deaths(): number
  /** Resolves when every process is up. */
  up(): Promise<void>
  /** Log lines about faults, and Node's warnings, since the last call. */
  complaints(): readonly string[]
  stop(): Promise<void>
}

export interface TargetOptions {
  /** Called when a process has died, with its last output. */
  readonly onDeath: (name: string, printed: string) => void
  /** The checkout whose program runs, if not this one. */
  readonly root?: string | undefined
}

/** The lines of a process's output that report a fault of its own. */
export const complaintsIn = (text: string): readonly string[] =>
  text.split('\n').filter((line) => /^\(node:\d+\)/.test(line) || /^\{"level":"(?:error|fatal)"/.test(line))
