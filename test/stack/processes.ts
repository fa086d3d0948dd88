import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readdirSync, readFileSync } from 'node:fs'
import { eventually } from '../support/eventually.ts'
import { processTimes } from '../support/sluice-process.ts'

export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The file that the server's output is appended to. */
  readonly logFile: string
  /** The user and group to run as; by default those of this process. */
  readonly user?: { readonly uid: number; readonly gid: number }
}

/** A server in its own process group, so that a signal reaches all of it and Ctrl-C in a terminal does not. */
export interface ServerProcess {
  signal(signal: NodeJS.Signals): void
  /** Stops all threads of the group; resolves once they stand still, as a signal takes its time on a busy machine. */
  freeze(): Promise<void>
  running(): boolean
  /** CPU seconds used by the group's running processes. */
  cpuSeconds(): number
  /** Resolves when the process is gone. */
  ended(): Promise<void>
}

/**
 * The shell around the server reads its standard input, a pipe from this process: when this process ends for any reason, the pipe closes
 * and the shell kills the group.
 */
const GUARD = 'exec 3<&0; "$@" </dev/null & server=$!; (read -r _ <&3; kill -KILL 0) & wait "$server"; kill -KILL 0'

export function startServer({ command, args, environment, logFile, user }: ServerCommand): ServerProcess {
  const log = openSync(logFile, 'a', 0o644)
  const child: ChildProcess = spawn('/bin/bash', ['-c', GUARD, 'server', command, ...args], {
    detached: true,
    stdio: ['pipe', log, log],
    env: { ...process.env, ...environment },
    ...user,
  })
  const running = (): boolean => child.exitCode === null && child.signalCode === null
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid !== undefined && running()) process.kill(-child.pid, name)
  }
  return {
    running,
    freeze: async () => {
      signal('SIGSTOP')
      await eventually(() => child.pid === undefined || !running() || isStopped(child.pid))
    },
    cpuSeconds: () => (child.pid === undefined ? 0 : cpuSecondsOfGroup(child.pid)),
    signal,
    ended: async () => {
      if (running()) await once(child, 'exit')
    },
  }
}

/** The results of `read` for the processes of a group; a process that ends meanwhile is left out. */
function ofGroup<Read>(group: number, read: (pid: string, cpuSeconds: number) => Read): readonly Read[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => {
    try {
      const times = processTimes(`/proc/${pid}/stat`)
      return times.group === group ? [read(pid, times.cpuSeconds)] : []
    } catch {
      return []
    }
  })
}

const cpuSecondsOfGroup = (group: number): number =>
  ofGroup(group, (_pid, cpuSeconds) => cpuSeconds).reduce((sum, seconds) => sum + seconds, 0)

/** Whether all threads of the group's processes are stopped, or have ended (proc_pid_stat(5): the state follows the name in brackets). */
const isStopped = (group: number): boolean =>
  ofGroup(group, (pid) =>
    readdirSync(`/proc/${pid}/task`).every((task) =>
      /\) [TtZ] /.test(readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8')),
    ),
  ).every((stopped) => stopped)

/** Waits until the server's log contains `text`, or `check` returns true. Rejects if the server ends, or on timeout. */
export async function awaitReady(
  server: ServerProcess,
  {
    name,
    logFile,
    check,
    withinMs,
  }: { name: string; logFile: string; check: () => Promise<boolean>; withinMs: number },
): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await check())) {
    const over = performance.now() > end
    if (!server.running() || over) {
      const tail = readFileSync(logFile, 'utf8').split('\n').slice(-60).join('\n')
      throw new Error(`${name} ${over ? `is not ready after ${withinMs} ms` : 'ended'}:\n${tail}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
