import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { javaHome } from '../stack/artefacts.ts'

const run = promisify(execFile)
const EXAMPLES = join(import.meta.dirname, '../../examples/subscribers')
const PREPARE_TIMEOUT_MS = 300_000

/** How to start an example, or why it cannot be started here. */
export interface Runtime {
  readonly language: string
  readonly command: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
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
  const typescript: Runtime = {
    language: 'TypeScript',
    command: process.execPath,
    args: [join(EXAMPLES, 'typescript/subscriber.ts')],
    environment: {},
    exitCode: 0,
  }
  const others = await Promise.all([
    attempt('Python', () => preparePython(join(folder, 'python'))),
    attempt('Java', () => prepareJava(join(folder, 'java'))),
  ])
  return { all: [typescript, ...others], remove: () => rmSync(folder, { recursive: true, force: true }) }
}

async function attempt(language: string, prepare: () => Promise<Omit<Runtime, 'language'>>) {
  try {
    return { language, ...(await prepare()) }
  } catch (error) {
    const { message, stderr = '' } = error as Error & { stderr?: string }
    return { language, missing: `${message} ${stderr}`.trim().slice(0, 500) }
  }
}

async function preparePython(packages: string): Promise<Omit<Runtime, 'language'>> {
  const example = join(EXAMPLES, 'python')
  const install = ['-m', 'pip', 'install', '-q', '--target', packages, '-r', join(example, 'requirements.txt')]
  await run('python3', install, { timeout: PREPARE_TIMEOUT_MS })
  return {
    command: 'python3',
    args: [join(example, 'subscriber.py')],
    environment: { PYTHONPATH: packages },
    exitCode: 0,
  }
}

async function prepareJava(project: string): Promise<Omit<Runtime, 'language'>> {
  const command = join(javaHome(17), 'bin/java')
  cpSync(join(EXAMPLES, 'java'), project, { recursive: true })
  const build = ['-q', '-B', '-f', join(project, 'pom.xml'), 'compile', 'dependency:copy-dependencies']
  await run('mvn', build, { timeout: PREPARE_TIMEOUT_MS })
  const classPath = `${join(project, 'target/classes')}:${join(project, 'target/dependency/*')}`
  return { command, args: ['-cp', classPath, 'Subscriber'], environment: {}, exitCode: 143 }
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
