import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COMPILED } from '../../deploy/memory-settings.ts'

/** The checkout whose program is started by default. */
const ROOT = join(import.meta.dirname, '../..')
const mainOf = (root: string): string => join(root, 'deploy/main.ts')
const NODE_FLAGS = ['--disable-warning=ExperimentalWarning']

/** The program as its users start it, in a process of its own. */
export interface SluiceProcess {
  readonly pid: number
  /** `http://127.0.0.1:port`, as printed in the banner. */
  readonly url: string
  /** The same for OTLP over gRPC; empty if it is disabled. */
  readonly grpcUrl: string
  /** All output so far, of both streams. */
  printed(): string
  kill(signal: NodeJS.Signals): void
  /** Resolves with the exit code, or null if a signal ended it. */
  readonly exited: Promise<number | null>
}

export interface SluiceResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Without compiled code, each start costs half as much CPU again. */
const environment = (settings: Record<string, string>): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: COMPILED,
  ...settings,
})

export interface StartOptions {
  /** The checkout whose program runs, if not this one. */
  readonly root?: string | undefined
  /**
   * Starts the server in its own session, with scheduling priority if permitted: its clients, Kafka and Elasticsearch stand in for other
   * machines, and must not add to its measured delays. Linux divides CPU time between sessions first (`sched_autogroup`). Ctrl-C in the
   * terminal does not reach it: the caller has to stop it.
   */
  readonly ownSession?: boolean
  /** The command, if it is another one than `start` that prints its address when ready. */
  readonly command?: string
}

/** Starts a server and waits until it prints its address; rejects with its output if it ends before. */
export async function startSluice(
  settings: Record<string, string>,
  args: readonly string[] = [],
  { root = ROOT, ownSession = false, command = 'start' }: StartOptions = {},
): Promise<SluiceProcess> {
  const child = spawn(process.execPath, [...NODE_FLAGS, mainOf(root), command, ...args], {
    env: environment({ PORT: '0', LOG_LEVEL: 'warn', ...settings }),
    detached: ownSession,
  })
  if (ownSession) preferSession(child.pid, -10)
  const output = collect(child)
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const ready = Promise.withResolvers<string>()
  child.stdout.on('data', () => {
    const match = /ready at (http:\/\/\S+)/.exec(output.stdout)
    if (match?.[1] !== undefined) ready.resolve(match[1])
  })
  void exited.then((code) => ready.reject(new Error(`sluice ended with ${code}:\n${output.stdout}${output.stderr}`)))
  const url = await ready.promise
  return {
    pid: child.pid ?? 0,
    url,
    grpcUrl: /gRPC(?: at)? +(http:\/\/\S+)/.exec(output.stdout)?.[1] ?? '',
    printed: () => output.stdout + output.stderr,
    kill: (signal) => void child.kill(signal),
    exited,
  }
}

/** Runs an operator command to its end, or kills it (SIGKILL) once `killWhen` answers true. */
export async function runSluice(
  args: readonly string[],
  settings: Record<string, string>,
  killWhen?: () => Promise<boolean>,
): Promise<SluiceResult> {
  const child = spawn(process.execPath, [...NODE_FLAGS, mainOf(ROOT), ...args], { env: environment(settings) })
  const output = collect(child)
  const closed = once(child, 'close') as Promise<[number | null]>
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null
  while (killWhen !== undefined && isRunning()) if (await killWhen()) child.kill('SIGKILL')
  const [code] = await closed
  return { code, ...output }
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  return output
}

/**
 * Sets the scheduling priority of a session; `nice` ranges from -20 (highest) to 19. Negative values require privileges: without them, or
 * without `sched_autogroup`, the session keeps the default priority.
 */
export function preferSession(pid: number | undefined, nice: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice))
  } catch {
    // Only delays depend on it.
  }
}

/** A new temporary folder, and a function that removes it. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'sluice-test-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** A new folder for a server on SQLite, with this registry file, and the settings that name its content. */
export function serverFolder(registry: string) {
  const folder = temporaryFolder()
  const settings = { DATA_DIR: join(folder.path, 'data'), REGISTRY_FILE: join(folder.path, 'registry.yaml') }
  writeFileSync(settings.REGISTRY_FILE, registry)
  return { ...folder, settings }
}

/** Clock ticks per second in /proc, on every Linux that Node supports. */
const TICKS_PER_SECOND = 100

/** The group of a process or thread and its CPU seconds so far, from its stat file in /proc. Throws if it is gone. */
export function processTimes(statFile: string): { readonly group: number; readonly cpuSeconds: number } {
  const line = readFileSync(statFile, 'utf8')
  // After the name, which may contain blanks: state, ppid, pgrp and so on; utime and stime are the 12th and 13th.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return { group: Number(fields[2]), cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND }
}
