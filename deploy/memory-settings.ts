import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'

/** The folder of compiled code: a command that finds it there begins in half the CPU time. */
export const COMPILED = join(import.meta.dirname, '../node_modules/.cache/compiled')

/**
 * Settings that only take effect when a process starts. By default, V8 gives the young objects of one thread up to 128 MiB, and glibc
 * raises its thresholds with every large block that is freed, and then keeps 300 MiB after some minutes of large bodies; these are its
 * initial thresholds. It also keeps free blocks in a heap for each of up to 16 threads. Compiled code is cached between starts: each thread
 * that finds it needs 5 MiB less and starts sooner.
 */
const YOUNG_OBJECTS = 'semi-space-size'
const ARENAS = { MALLOC_ARENA_MAX: '2' }
const SETTINGS = {
  youngObjects: ['--max-semi-space-size=16'],
  environment: {
    ...ARENAS,
    MALLOC_MMAP_THRESHOLD_: '131072',
    MALLOC_TRIM_THRESHOLD_: '1048576',
    NODE_COMPILE_CACHE: COMPILED,
  },
}
/**
 * A gateway alone has few threads, and room. With the bounds of the others an entry costs it a fifth more CPU. Left to itself, V8 enlarges the
 * room for young objects only in some processes: in the others they grow old before they are done with, which takes as much CPU more, and
 * 60 MiB. The same was seen where compiled code comes from the cache.
 */
const GATEWAY_SETTINGS = { youngObjects: ['--max-semi-space-size=32', '--min-semi-space-size=32'], environment: ARENAS }

/** A process that can be replaced by another program, or by itself. */
type Replaceable = Pick<NodeJS.Process, 'argv' | 'env' | 'execArgv' | 'execPath'> &
  Partial<Pick<NodeJS.Process, 'execve'>>

/**
 * Restarts the program in the same process with these settings, and then does not return. Settings of the operator stay as they are.
 * Returns if there is nothing to change, or if the platform cannot do it (Windows).
 */
export function beginWithMemorySettings(self: Replaceable = process): void {
  const { argv, env, execArgv, execPath, execve } = self
  const { youngObjects, environment } = / --role[ =]gateway\b/.test(argv.join(' ')) ? GATEWAY_SETTINGS : SETTINGS
  // While set, they also override the limits that threads are started with.
  for (const flag of youngObjects) if (execArgv.includes(flag)) setFlagsFromString(flag.replace(/\d+$/, '0'))
  if (execve === undefined || Object.keys(environment).every((name) => env[name] !== undefined)) return
  const isSet = [...execArgv, env['NODE_OPTIONS'] ?? ''].some((text) => text.includes(YOUNG_OBJECTS))
  const flags = isSet ? execArgv : [...youngObjects, ...execArgv]
  execve(execPath, [execPath, ...flags, ...argv.slice(1)], { ...environment, ...env })
}
