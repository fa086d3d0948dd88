import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attempt, type Environment, prepareJava, preparePython } from '../support/toolchains.ts'

const EXAMPLES = join(import.meta.dirname, '../../examples/subscribers')

/** How to start an example, or why it cannot be started here. */
export interface Runtime {
  readonly language: string
  readonly command: string
  readonly args: readonly string[]
  readonly environment: Environment
  /** Its exit code after SIGTERM; Java tells of the signal even where it ended in order. */
  readonly exitCode: number
}

export interface MissingRuntime {
  readonly language: string
  readonly missing: string
}

export interface Runtimes {
  readonly all: readonly (Runtime | MissingRuntime)[]
  remove(): void
}

/** Makes ready what the examples need, as their readers do, but in a folder that is removed again. */
export async function prepareRuntimes(): Promise<Runtimes> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-subscribers-'))
  const [python, java] = [join(EXAMPLES, 'python'), join(EXAMPLES, 'java')]
  const all = await Promise.all([
    runtime('TypeScript', process.execPath, [join(EXAMPLES, 'typescript/subscriber.ts')], 0, async () => ({})),
    runtime('Python', 'python3', [join(python, 'subscriber.py')], 0, () =>
      preparePython(python, join(folder, 'python')),
    ),
    runtime('Java', 'java', ['Subscriber'], 143, () => prepareJava(java, join(folder, 'java'))),
  ])
  return { all, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

async function runtime(
  language: string,
  command: string,
  args: readonly string[],
  exitCode: number,
  prepare: () => Promise<Environment>,
): Promise<Runtime | MissingRuntime> {
  const toolchain = await attempt(prepare)
  return 'missing' in toolchain ? { language, ...toolchain } : { language, command, args, exitCode, ...toolchain }
}

export interface RunningSubscriber {
  /** The lines printed so far, each cut into its fields. */
  printed(): readonly (readonly string[])[]
  /** Asks it to end; resolves with its exit code. */
  stop(): Promise<number | null>
  /** Its standard error, for a test that fails. */
  complaints(): string
}

export function startSubscriber(
  { command, args, environment }: Runtime,
  settings: Readonly<Record<string, string>>,
): RunningSubscriber {
  const child: ChildProcess = spawn(command, args, {
    env: { ...process.env, ...environment, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    printed: () =>
      output.stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => line.split('\t')),
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
    complaints: () => output.stderr,
  }
}
