import { setFlagsFromString } from 'node:v8'

/**
 * Settings that count only where they are there when a process starts. Left to itself, V8 gives the young objects of one thread up to
 * 128 MiB, and glibc keeps what was freed once a large block was among it: 300 MiB after some minutes of large bodies.
 */
const YOUNG_OBJECTS = '--max-semi-space-size'
const YOUNG_OBJECTS_MIB = 16
const ALLOCATOR = { MALLOC_MMAP_THRESHOLD_: '262144', MALLOC_TRIM_THRESHOLD_: '1048576' }

/** A process that can be replaced by another program, or by itself. */
export type Replaceable = Pick<NodeJS.Process, 'argv' | 'env' | 'execArgv' | 'execPath'> &
  Partial<Pick<NodeJS.Process, 'execve'>>

/**
 * Has the program begin again in the same process with these settings, and does not return then. What the operator has set stays as it
 * is. Returns where there is nothing to change, or the platform cannot (Windows).
 */
export function beginWithMemorySettings(self: Replaceable = process): void {
  const { argv, env, execArgv, execPath, execve } = self
  const young = `${YOUNG_OBJECTS}=${YOUNG_OBJECTS_MIB}`
  // As long as it is set, it also overrides the limits that threads are started with.
  if (execArgv.includes(young)) setFlagsFromString(`${YOUNG_OBJECTS}=0`)
  if (execve === undefined || Object.keys(ALLOCATOR).every((name) => env[name] !== undefined)) return
  const isSet = [...execArgv, env['NODE_OPTIONS'] ?? ''].some((text) => text.includes(YOUNG_OBJECTS))
  const flags = isSet ? execArgv : [young, ...execArgv]
  execve(execPath, [execPath, ...flags, ...argv.slice(1)], { ...ALLOCATOR, ...env })
}
