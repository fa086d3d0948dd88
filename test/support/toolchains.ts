import { execFile } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'vitest'
import { cacheFolder, javaHome } from '../stack/artefacts.ts'

const run = promisify(execFile)
/** A first build fetches its packages. */
const PREPARE_TIMEOUT_MS = 600_000

/** Names and values to set in the environment of a program. */
export type Environment = Readonly<Record<string, string>>

/** The environment that the programs of a language need, or the reason why they cannot be run here. */
export type Toolchain = { readonly environment: Environment } | { readonly missing: string }

/** The outcome of `prepare`; a failure is told in the words of the tool that failed. */
export async function attempt(prepare: () => Promise<Environment>): Promise<Toolchain> {
  try {
    return { environment: await prepare() }
  } catch (error) {
    const { message, stderr = '' } = error as Error & { stderr?: string }
    return { missing: `${message} ${stderr}`.trim().slice(0, 500) }
  }
}

/** Puts a test that cannot run here into the report: as skipped, or as failed where it was required. */
export function notProved(name: string, missing: string, required: boolean): void {
  const reason = `NOT PROVED: ${name} (${missing})`
  if (required) {
    test(name, () => {
      throw new Error(reason)
    })
    return
  }
  process.stderr.write(`\n${reason}\n`)
  test.skip(name, () => undefined)
}

/** The path with a folder before all others. */
export const inPath = (folder: string): Environment => ({ PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` })

/** Installs what `requirements.txt` of a folder names into `packages`. */
export async function preparePython(source: string, packages: string): Promise<Environment> {
  const install = ['-m', 'pip', 'install', '-q', '--target', packages, '-r', join(source, 'requirements.txt')]
  await run('python3', install, { timeout: PREPARE_TIMEOUT_MS })
  return { ...inPath(join(packages, 'bin')), PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' }
}

/** Compiles the Maven project of a folder in `project`, a copy of it. */
export async function prepareJava(source: string, project: string): Promise<Environment> {
  const home = javaHome(17)
  cpSync(source, project, { recursive: true })
  const build = ['-q', '-B', '-f', join(project, 'pom.xml'), 'compile', 'dependency:copy-dependencies']
  await run('mvn', build, { timeout: PREPARE_TIMEOUT_MS })
  const classPath = [join(project, 'target/classes'), join(project, 'target/dependency/*')].join(delimiter)
  return { ...inPath(join(home, 'bin')), CLASSPATH: classPath }
}

/** Compiles the Go module of a folder to a program of this name in `target`. */
export async function prepareGo(source: string, target: string, name: string): Promise<Environment> {
  await run('go', ['build', '-o', join(target, name), '.'], { cwd: source, timeout: PREPARE_TIMEOUT_MS })
  return inPath(target)
}

/** Compiles the crate of a folder; what it is made from stays in the cache, as cargo keeps it with no project. */
export async function prepareRust(source: string): Promise<Environment> {
  const target = join(cacheFolder(), 'cargo')
  mkdirSync(target, { recursive: true })
  const options = { cwd: source, timeout: PREPARE_TIMEOUT_MS, env: { ...process.env, CARGO_TARGET_DIR: target } }
  await run('cargo', ['build', '--locked', '--quiet'], options)
  return inPath(join(target, 'debug'))
}

/** Resolves where a program is on the path and prints its version. */
export async function prepareInstalled(program: string): Promise<Environment> {
  await run(program, ['--version'], { timeout: PREPARE_TIMEOUT_MS })
  return {}
}
