import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'

export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The server's output, appended. */
  readonly logFile: string
  /** The user and group to run as; unset: this process's own. */
  readonly user?: { readonly uid: number; readonly gid: number }
}

/** A server in a process group of its own, so that a signal reaches all of it and Ctrl-C in a terminal does not. */
export interface ServerProcess {
  signal(signal: NodeJS.Signals): void
  running(): boolean
  /** Resolves when the process is gone. */
  ended(): Promise<void>
}

/**
 * The shell around the server watches its standard input, a pipe from this process: when this process is gone, however it went, the
 * pipe closes and the group ends.
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
  return {
    running,
    signal: (signal) => {
      if (child.pid === undefined || !running()) return
      process.kill(-child.pid, signal)
    },
    ended: async () => {
      if (running()) await once(child, 'exit')
    },
  }
}

/** Waits until the server's log holds `text`, or `check` is true. Rejects when the server ends or the time is over. */
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
