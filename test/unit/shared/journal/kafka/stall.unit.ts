import { describe, expect, test } from 'vitest'
import { judgeStall, type PartitionState } from '../../../../../shared/journal/kafka/stall.ts'

const NOW = 100_000
const STALL_MS = 20_000
const read = (partition: number, silentMs: number): PartitionState => ({
  topic: 't',
  partition,
  obstacle: null,
  answeredAt: NOW - silentMs,
  refusal: null,
})
const unled = (partition: number, silentMs: number, saidMs: number): PartitionState => ({
  ...read(partition, silentMs),
  refusal: { at: NOW - saidMs, reason: 'no broker leads it' },
})
const refused = (partition: number, silentMs: number, saidMs: number): PartitionState => ({
  ...read(partition, silentMs),
  refusal: { at: NOW - saidMs, reason: 'the storage is broken' },
})
const unread = (partition: number, waitingMs: number): PartitionState => ({
  ...read(partition, waitingMs),
  obstacle: 'refused',
})
const judge = (...states: readonly PartitionState[]) => judgeStall(states, NOW, STALL_MS)

describe('judgeStall', () => {
  test('a member whose partitions are all answered for is ready, and so is one without any', () => {
    const ready = { reason: null, alarm: '', remake: null }
    expect(judge()).toEqual(ready)
    expect(judge(read(0, 0), read(1, STALL_MS))).toEqual(ready)
  })

  test('a partition that was read and falls silent has the member made anew', () => {
    expect(judge(read(0, 0), read(1, STALL_MS + 1)).remake).toBe('no broker has answered for t/1 for 20000 ms')
  })

  test('a partition that is not read yet makes the member not ready, and later an alarm, but never anew', () => {
    const reason = 't/1 is not read: refused'
    expect(judge(read(0, 0), unread(1, 0))).toEqual({ reason, alarm: '', remake: null })
    expect(judge(read(0, 0), unread(1, STALL_MS + 1))).toEqual({ reason, alarm: 't/1', remake: null })
  })

  test('a partition that no broker leads is alarmed after a while, and the member is not made anew', () => {
    expect(judge(read(0, 0), unled(1, STALL_MS, 0)).reason).toBeNull()
    const reason = 't/1 is not read: no broker leads it'
    expect(judge(read(0, 0), unled(1, STALL_MS + 1, 0))).toEqual({ reason, alarm: 't/1', remake: null })
  })

  test('a partition that its leader cannot read is alarmed after a while, and the member is made anew only if the leader falls silent', () => {
    expect(judge(refused(1, STALL_MS, 0)).reason).toBeNull()
    const reason = 't/1 is not read: the storage is broken'
    expect(judge(refused(1, STALL_MS + 1, 0))).toEqual({ reason, alarm: 't/1', remake: null })
    expect(judge(refused(1, 2 * STALL_MS, STALL_MS + 1)).remake).not.toBeNull()
    expect(judge(refused(1, 0, 1))).toEqual({ reason: null, alarm: '', remake: null })
  })

  test('a partition that is led again has the same time as others to be answered for', () => {
    expect(judge(unled(1, 2 * STALL_MS, STALL_MS)).remake).toBeNull()
    expect(judge(unled(1, 2 * STALL_MS, STALL_MS + 1)).remake).not.toBeNull()
    expect(judge(unled(1, 0, 1))).toEqual({ reason: null, alarm: '', remake: null })
  })

  test('of many partitions that are not read, some are named', () => {
    const states = [0, 1, 2, 3, 4].map((partition) => unread(partition, 0))
    expect(judge(...states).reason).toBe(
      't/0 is not read: refused; t/1 is not read: refused; t/2 is not read: refused; 2 more partition(s) are not read',
    )
  })
})
