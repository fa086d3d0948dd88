import type { Role } from './draft.ts'

/** A process of the running program. */
export interface Watched {
  readonly name: string
  readonly pid: number
  readonly port: number
}

/** The program under attack, however many processes it is; one that dies is started again. */
export interface Target {
  /** The port of the process that has this role. */
  port(role: Role): number
  processes(): readonly Watched[]
  /** How many processes have died so far. */
  deaths(): number
  /** Resolves when every process is up. */
  up(): Promise<void>
  /** Lines about faults, and warnings of Node, that were printed since this was last asked for. */
  complaints(): readonly string[]
  stop(): Promise<void>
}

export interface TargetOptions {
  /** Told when a process has died, with what it printed last. */
  readonly onDeath: (name: string, printed: string) => void
  /** The checkout whose program runs, where it is another than this one. */
  readonly root?: string | undefined
}

/** The lines of a process's output that tell of a fault of its own. */
export const complaintsIn = (text: string): readonly string[] =>
  text.split('\n').filter((line) => /^\(node:\d+\)/.test(line) || /^\{"level":"(?:error|fatal)"/.test(line))
