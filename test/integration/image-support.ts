import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe } from 'vitest'
import { notProved, REQUIRED } from '../support/toolchains.ts'

const ROOT = join(import.meta.dirname, '../..')

const NODE_IMAGE = 'node:24-bookworm-slim'
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024

const NAME_PREFIX = 'sluice-test-'

/** A name that no other run uses, for containers, volumes, images and projects. */
export const uniqueName = (): string => `${NAME_PREFIX}${process.pid}-${randomBytes(3).toString('hex')}`

/** The commands that list and remove the parts of a compose project; its own `down` fails if some of them are gone. */
const PARTS = [
  { list: ['ps', '--all'], remove: ['rm', '--force', '--volumes'] },
  { list: ['network', 'ls'], remove: ['network', 'rm'] },
  { list: ['volume', 'ls'], remove: ['volume', 'rm'] },
] as const

/** Removes compose projects of runs that were killed; the name tells which process each belonged to. */
export async function removeLeftovers(): Promise<void> {
  const projects = (await docker('compose', 'ls', '--all', '--quiet')).split('\n')
  for (const project of projects) {
    const [, pid] = new RegExp(`^${NAME_PREFIX}(\\d+)-`).exec(project) ?? []
    if (pid === undefined || isAlive(Number(pid))) continue
    for (const { list, remove } of PARTS) {
      const found = await docker(...list, '--quiet', '--filter', `label=com.docker.compose.project=${project}`)
      if (found !== '') await docker(...remove, ...found.split('\n'))
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export interface Output {
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program in the project's folder to its end; rejects with all it printed where that is not a success. */
export async function run(
  program: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Output> {
  const env = { ...process.env, ...environment }
  try {
    return await promisify(execFile)(program, args, { cwd: ROOT, env, maxBuffer: OUTPUT_BYTES_MAX })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as Partial<Output>
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
  }
}

/** Runs a docker command and gives what it printed on standard output. */
export const docker = async (...args: readonly string[]): Promise<string> => (await run('docker', args)).stdout.trim()

/** Builds the project's image under a tag. */
export const buildImage = (tag: string): Promise<string> => docker('build', '--quiet', '--tag', tag, '.')

/**
 * A `describe` whose tests need a Docker engine with buildx and compose, and images that it has or can pull. Where there is none, the
 * tests are skipped and one line says what was not proved; with REQUIRE_BACKENDS=1 they fail.
 */
export function describeWithDocker(name: string, images: readonly string[], body: () => void): void {
  const missing = whatIsMissing([NODE_IMAGE, ...images])
  if (missing === undefined) {
    describe(name, body)
    return
  }
  notProved(name, missing, REQUIRED, 'no Docker')
}

function whatIsMissing(images: readonly string[]): string | undefined {
  const fails = (...args: string[]): boolean => {
    try {
      execFileSync('docker', args, { stdio: 'ignore' })
      return false
    } catch {
      return true
    }
  }
  if (fails('version')) return 'no engine answers'
  if (fails('buildx', 'version')) return 'no buildx'
  if (fails('compose', 'version')) return 'no docker compose'
  const image = images.find((each) => fails('image', 'inspect', each) && fails('pull', each))
  return image === undefined ? undefined : `no image ${image}`
}

/** The shell commands that docs/containers.md shows under a heading, one text. */
export function documentedCommands(heading: string): string {
  const page = readFileSync(join(ROOT, 'docs/containers.md'), 'utf8')
  const section = page.split(/^## /m).find((each) => each.startsWith(`${heading}\n`))
  const blocks = [...(section ?? '').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands]) => commands)
  if (blocks.length === 0) throw new Error(`docs/containers.md shows no commands under "${heading}"`)
  return blocks.join('\n')
}
