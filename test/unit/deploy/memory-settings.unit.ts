import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { beginWithMemorySettings } from '../../../deploy/memory-settings.ts'

interface Begun {
  readonly file: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** The program that a process which was started like this becomes; undefined where it stays as it is. */
function begun(execArgv: string[], env: NodeJS.ProcessEnv, ...args: string[]): Begun | undefined {
  let result: Begun | undefined
  const execve = (file: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): never => {
    result = { file, args, env }
    return undefined as never
  }
  beginWithMemorySettings({ argv: ['/node', '/main.ts', 'start', ...args], env, execArgv, execPath: '/node', execve })
  return result
}

describe('settings of memory', () => {
  test('are added, and the program begins again with its own arguments', () => {
    expect(begun(['--max-old-space-size=384'], { PORT: '1' })).toEqual({
      file: '/node',
      args: ['/node', '--max-semi-space-size=16', '--max-old-space-size=384', '/main.ts', 'start'],
      env: {
        PORT: '1',
        MALLOC_MMAP_THRESHOLD_: '131072',
        MALLOC_TRIM_THRESHOLD_: '1048576',
        MALLOC_ARENA_MAX: '2',
        NODE_COMPILE_CACHE: expect.stringMatching(/node_modules\/.cache\/compiled$/),
      },
    })
  })

  test.each([[['--role', 'gateway']], [['--role=gateway']]])('leave a gateway more room: %j', (args) => {
    const { args: after, env } = begun([], {}, ...args) ?? {}
    expect(after).toEqual([
      ...['/node', '--max-semi-space-size=32', '--min-semi-space-size=32', '/main.ts', 'start'],
      ...args,
    ])
    expect(Object.keys(env ?? {})).toEqual(['MALLOC_ARENA_MAX'])
    expect(begun([], env ?? {}, ...args)).toBeUndefined()
  })

  test('begin nothing again once they are there', () => {
    expect(begun([], begun([], {})?.env ?? {})).toBeUndefined()
  })

  test.each<[string[], NodeJS.ProcessEnv]>([
    [['--max-semi-space-size=64'], {}],
    [[], { NODE_OPTIONS: '--max-semi-space-size=64' }],
  ])('leave what the operator has set: %j %j', (execArgv, env) => {
    const after = begun(execArgv, { ...env, MALLOC_TRIM_THRESHOLD_: '8' })
    expect(after?.args).toEqual(['/node', ...execArgv, '/main.ts', 'start'])
    expect(after?.env).toMatchObject({ ...env, MALLOC_TRIM_THRESHOLD_: '8' })
  })

  test('are left out where a process cannot be replaced', () => {
    expect(() => beginWithMemorySettings({ argv: [], env: {}, execArgv: [], execPath: '/node' })).not.toThrow()
  })

  test.each<[string[], string[]]>([
    [['--max-semi-space-size=16'], []],
    [
      ['--max-semi-space-size=32', '--min-semi-space-size=32'],
      ['start', '--role=gateway'],
    ],
  ])('do not override the limits of threads: %j %j', (flags, ofProgram) => {
    const settings = new URL('../../../deploy/memory-settings.ts', import.meta.url)
    // A thread that makes many short-lived objects prints the MiB of its young generation.
    const thread = `
      import { getHeapSpaceStatistics } from 'node:v8'
      let kept = []
      for (let i = 0; i < 2_000_000; i += 1) if (kept.push({ i }) > 200_000) kept = []
      const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
      console.log(space.space_size / 2 ** 20)`
    const program = `
      import { Worker } from 'node:worker_threads'
      import { beginWithMemorySettings } from ${JSON.stringify(settings)}
      beginWithMemorySettings({ ...process, execve: undefined, execArgv: process.execArgv })
      new Worker(${JSON.stringify(thread)}, { eval: true, resourceLimits: { maxYoungGenerationSizeMb: 6 } })`
    const args = [...flags, '--input-type=module', '-e', program, ...ofProgram]
    expect(Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))).toBeLessThanOrEqual(6)
  })
})
