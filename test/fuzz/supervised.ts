import { setTimeout as delay } from 'node:timers/promises'
import type { SluiceProcess } from '../support/sluice-process.ts'
import { complaintsIn, type TargetOptions } from './target.ts'

/** A process of the program that is restarted whenever it dies. */
export interface Supervised {
  readonly name: string
  readonly process: () => SluiceProcess
  readonly deaths: () => number
  up(): Promise<void>
  /** See `Target.complaints`. */
  complaints(): readonly string[]
  stop(): Promise<void>
}

const PRINTED_MAX = 3_000
/** Pause between restarts, so that a process that cannot start does not use up the machine. */
const PAUSE_MS = 500

/** The end of an output, without native frames, which are of no use here. */
const readable = (printed: string): string => printed.replaceAll(/^\s*\d+: 0x.*\n?/gm, '').slice(-PRINTED_MAX)

export async function supervise(
  name: string,
  start: () => Promise<SluiceProcess>,
  { onDeath }: TargetOptions,
): Promise<Supervised> {
  let stopping = false
  let deaths = 0
  let read = 0
  const gathered: string[] = []
  let current = await start()
  let up = Promise.resolve()

  function gather(): void {
    const printed = current.printed()
    // An incomplete line is left for the next call.
    const end = printed.lastIndexOf('\n') + 1
    if (end <= read) return
    gathered.push(...complaintsIn(printed.slice(read, end)))
    read = end
  }

  async function restart(): Promise<void> {
    for (;;) {
      try {
        current = await start()
        read = 0
        watch()
        return
      } catch (error) {
        gathered.push(String(error))
        await delay(PAUSE_MS)
        if (stopping) return
      }
    }
  }

  function watch(): void {
    void current.exited.then(() => {
      if (stopping) return
      gather()
      deaths += 1
      onDeath(name, readable(current.printed()))
      up = restart()
    })
  }
  watch()
  // No child process outlives the run, however it ends.
  const kill = (): void => current.kill('SIGKILL')
  process.once('exit', kill)

  return {
    name,
    process: () => current,
    deaths: () => deaths,
    up: () => up,
    complaints: () => {
      gather()
      return gathered.splice(0)
    },
    stop: async () => {
      stopping = true
      process.off('exit', kill)
      await up
      current.kill('SIGTERM')
      await current.exited
    },
  }
}
