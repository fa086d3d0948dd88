import { readFileSync } from 'node:fs'

/** Clock ticks per second in /proc, on every Linux that Node supports. */
const TICKS_PER_SECOND = 100

/** The group of a process or thread and its CPU seconds so far, from its stat file in /proc. Throws if it is gone. */
export function processTimes(statFile: string): { readonly group: number; readonly cpuSeconds: number } {
  const line = readFileSync(statFile, 'utf8')
  // After the name, which may contain blanks: state, ppid, pgrp and so on; utime and stime are the 12th and 13th.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return { group: Number(fields[2]), cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND }
}
