import { execFile } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'vitest'
import { cacheFolder, javaHome } from '../stack/artefacts.ts'

const run = promisify(execFile)
/** Long, because a first build downloads its packages. */
const PREPARE_TIMEOUT_MS = 600_000

/** Environment variables for a program. */
export type Environment = Readonly<Record<string, string>>

/** The environment for programs of a language, or why they cannot run here. */
export type Toolchain = { readonly environment: Environment } | { readonly missing: string }

/** The outcome of `prepare`; a failure is described by the failed tool's output. */
export async function attempt(prepare: () => Promise<Environment>): Promise<Toolchain> {
  try {
    return { environment: await prepare() }
  } catch (error) {
    const { message, stderr = '' } = error as Error & { stderr?: string }
    return { missing: `${message} ${stderr}`.trim().slice(0, 500) }
  }
}

/** PATH with a folder in front. */
export const inPath = (folder: string): Environment => ({ PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` })

/** Installs the packages in a folder's `requirements.txt` into `packages`. */
export async function preparePython(source: string, packages: string): Promise<Environment> {
  const install = ['-m', 'pip', 'install', '-q', '--target', packages, '-r', join(source, 'requirements.txt')]
  await run('python3', install, { timeout: PREPARE_TIMEOUT_MS })
  return { ...inPath(join(packages, 'bin')), PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' }
}

/** Compiles a copy of a folder's Maven project in `project`. */
export async function prepareJava(source: string, project: string): Promise<Environment> {
  const home = javaHome(17)
  cpSync(source, project, { recursive: true })
  const build = ['-q', '-B', '-f', join(project, 'pom.xml'), 'compile', 'dependency:copy-dependencies']
  await run('mvn', build, { timeout: PREPARE_TIMEOUT_MS })
  const classPath = [join(project, 'target/classes'), join(project, 'target/dependency/*')].join(delimiter)
  return { ...inPath(join(home, 'bin')), CLASSPATH: classPath }
}

/** Compiles a folder's Go module to a program of this name in `target`. */
export async function prepareGo(source: string, target: string, name: string): Promise<Environment> {
  await run('go', ['build', '-o', join(target, name), '.'], { cwd: source, timeout: PREPARE_TIMEOUT_MS })
  return inPath(target)
}

/** Compiles a folder's crate; build output stays in the cache, as cargo keeps none without a project. */
export async function prepareRust(source: string): Promise<Environment> {
  const target = join(cacheFolder(), 'cargo')
  mkdirSync(target, { recursive: true })
  const options = { cwd: source, timeout: PREPARE_TIMEOUT_MS, env: { ...process.env, CARGO_TARGET_DIR: target } }
  await run('cargo', ['build', '--locked', '--quiet'], options)
  return inPath(join(target, 'debug'))
}

/** Resolves if a program is on the path and prints its version. */
export async function prepareInstalled(program: string): Promise<Environment> {
  await run(program, ['--version'], { timeout: PREPARE_TIMEOUT_MS })
  return {}
}

/**
 * Reports a suite or test that cannot run here: as skipped, with a line that says what was not proved, or as failed if it is required.
 * `lacks` names the kind of thing that this machine lacks.
 */
export function notProved(name: string, missing: string, required: boolean, lacks?: string): void {
  const reason = `NOT PROVED${lacks === undefined ? '' : `, ${lacks}`}: ${name} (${missing})`
  if (!required) process.stderr.write(`\n${reason}\n`)
  test(name, ({ skip }) => {
    if (required) throw new Error(reason)
    skip(missing)
  })
}

/** Whether suites whose servers or programs are missing have to fail, as in CI. */
export const REQUIRED = process.env['REQUIRE_BACKENDS'] === '1'
