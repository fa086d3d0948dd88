import * as os from 'node:os'

/**
 * Raises the calling thread's niceness to at least this, so that other threads go first when there are fewer cores than threads. Linux
 * only: elsewhere niceness applies to the whole process. A nicer thread stays as it is, as only a privileged process may lower niceness.
 */
export function makeThreadNicer(
  niceness: number,
  { getPriority, setPriority }: Pick<typeof os, 'getPriority' | 'setPriority'> = os,
  platform = process.platform,
): void {
  // 0 stands for the calling thread.
  if (platform === 'linux' && getPriority(0) < niceness) setPriority(0, niceness)
}
