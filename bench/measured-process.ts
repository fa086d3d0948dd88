import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pause } from '../shared/runtime/waiting.ts'
import { processTimes } from '../test/support/sluice-process.ts'
import { REGISTRY } from './entries.ts'

/** A program under measurement, as accounted for by the kernel. */
export interface MeasuredProcess {
  readonly url: string
  /** CPU seconds used so far by all threads. */
  cpuSeconds(): number
  /** CPU seconds used so far, by thread name. */
  cpuSecondsByThread(): Readonly<Record<string, number>>
  /** Resident memory now and at its peak, in MiB. */
  memory(): { readonly nowMiB: number; readonly peakMiB: number }
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<void>
}

/** Starts a Node program that prints a line with its URL, and waits for that line. */
export async function startMeasured(args: readonly string[], env: Record<string, string>): Promise<MeasuredProcess> {
  const child = run(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], env)
  return measured(child, await printedUrl(child))
}

/** Starts Sluice as users do, on files of its own. */
export const startSluice = (args: readonly string[], settings: Record<string, string>): Promise<MeasuredProcess> =>
  startIn((folder) => {
    const registry = join(folder, 'registry.yaml')
    writeFileSync(registry, REGISTRY)
    return startMeasured([join(import.meta.dirname, '../deploy/main.ts'), 'start', ...args], {
      PORT: '0',
      LOG_LEVEL: 'warn',
      DATA_DIR: join(folder, 'data'),
      REGISTRY_FILE: registry,
      ...settings,
    })
  })

/** Gives a program a folder, and deletes that once the program has stopped: pending writes would slow down the next run. */
export async function startIn(start: (folder: string) => Promise<MeasuredProcess>): Promise<MeasuredProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    const program = await start(folder)
    return { ...program, stop: () => program.stop().finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}

/** Starts another program, and waits for any response at its URL. */
export async function startProgram(command: string, args: readonly string[], url: string): Promise<MeasuredProcess> {
  const child = run(command, args, {})
  let over = false
  child.once('exit', () => {
    over = true
  })
  for (;;) {
    const answers = await fetch(url).then(
      () => true,
      () => false,
    )
    if (answers) return measured(child, url)
    if (over) throw new Error(`${command} ended before it was ready`)
    await pause(50)
  }
}

/** BENCH_NODE_OPTIONS=--cpu-prof profiles the measured Node programs. */
function profiling(): Record<string, string> {
  const options = process.env['BENCH_NODE_OPTIONS']
  return options === undefined ? {} : { NODE_OPTIONS: options }
}

function run(command: string, args: readonly string[], env: Record<string, string>): ChildProcess {
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'], ...profiling(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const kill = (): void => void child.kill('SIGKILL')
  // No child process outlives the bench, however it ends.
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  return child
}

function measured(child: ChildProcess, url: string): MeasuredProcess {
  const { pid } = child
  if (pid === undefined) throw new Error(`${child.spawnfile} did not start`)
  return {
    url,
    cpuSeconds: () => processTimes(`/proc/${pid}/stat`).cpuSeconds,
    cpuSecondsByThread: () => byThread(pid),
    memory: () => ({ nowMiB: statusMiB(pid, 'VmRSS'), peakMiB: statusMiB(pid, 'VmHWM') }),
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) resolve()
        child.once('exit', () => resolve())
        child.kill('SIGTERM')
      }),
  }
}

function printedUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (printed.length < 100_000) printed += text
      const match = /https?:\/\/127\.0\.0\.1:\d+/.exec(printed)
      if (match !== null) resolve(match[0])
    })
    child.once('exit', (code) => reject(new Error(`the program ended with ${code} before it was ready:\n${printed}`)))
  })
}

function byThread(pid: number): Record<string, number> {
  const seconds: Record<string, number> = {}
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const name = readFileSync(`/proc/${pid}/task/${task}/comm`, 'utf8').trim()
    seconds[name] = (seconds[name] ?? 0) + processTimes(`/proc/${pid}/task/${task}/stat`).cpuSeconds
  }
  return seconds
}

/** A field of a process's status in /proc, such as VmRSS, in MiB. */
export const statusMiB = (pid: number, field: string): number => {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Math.round(Number(line?.[1] ?? 0) / 1024)
}
