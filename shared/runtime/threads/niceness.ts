import * as os from 'node:os'

/**
 * Has the calling thread be at least so nice, so that others go first where there are fewer cores than threads. On Linux alone: elsewhere
 * niceness is of the whole process. A thread that is nicer already stays so, as only a privileged process may take that back.
 */
export function makeThreadNicer(
  niceness: number,
  { getPriority, setPriority }: Pick<typeof os, 'getPriority' | 'setPriority'> = os,
  platform = process.platform,
): void {
  // 0 stands for the calling thread.
  if (platform === 'linux' && getPriority(0) < niceness) setPriority(0, niceness)
}
