import { readFileSync } from 'node:fs'

/** Clock ticks per second in /proc, on every Linux that Node supports. */
const TICKS_PER_SECOND = 100

/** The group of a process or thread and its CPU seconds so far, from its stat file in /proc; undefined if it is gone. */
export function processTimes(statFile: string): { readonly group: number; readonly cpuSeconds: number } | undefined {
  let line: string
  try {
    line = readFileSync(statFile, 'utf8')
  } catch {
    return undefined
  }
  // After the name, which may contain blanks: state, ppid, pgrp and so on; utime and stime are the 12th and 13th.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return { group: Number(fields[2]), cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND }
}

/** The CPU seconds alone; NaN if it is gone. */
export const cpuSecondsOf = (statFile: string): number => processTimes(statFile)?.cpuSeconds ?? Number.NaN
