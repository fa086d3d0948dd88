import { table } from '../numbers.ts'
import type { Memory } from './memory.ts'

export interface MemoryResults {
  readonly seconds: number
  readonly gateway: Memory
  readonly consumers: Memory
  readonly publishBufferMiB: number
}

export function renderMemory({ seconds, gateway, consumers, publishBufferMiB }: MemoryResults): string {
  const row = (name: string, { beforeMiB, peakMiB, endMiB }: Memory, configured: string): readonly string[] => [
    name,
    String(beforeMiB),
    String(peakMiB),
    String(endMiB),
    String(peakMiB - beforeMiB),
    configured,
  ]
  return `Resident memory in MiB, before what a process depends on went away and in the ${seconds} s after. The gateway has 1,024 connections at
work with batches of 100, more than its buffer takes; the consumers of all views have a backlog to read.

${table(
  ['process', 'before', 'peak', 'at the end', 'growth', 'configured'],
  [
    row(
      'gateway, its broker frozen',
      gateway,
      `PUBLISH_BUFFER_BYTES: ${publishBufferMiB} MiB of entries, of which one Team takes three quarters`,
    ),
    row(
      'consumers, Elasticsearch gone',
      consumers,
      'a partition that is read: 2 MiB ahead, 4 MiB in a batch, 5 MiB in a request; 24 partitions have records here',
    ),
  ],
)}`
}
