import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { TailPage } from '../../../shared/log-store/log-store.ts'
import { decodeTailCursor } from '../../../views/api/cursor.ts'
import { createNames } from '../../../views/api/names.ts'
import { createTailSink } from '../../../views/api/tail.ts'
import { eventLog } from '../../support/views-fixture.ts'

const names = createNames({ entity: () => undefined } as never, 'a')

/** A response whose reader takes what the test says. */
function createResponse() {
  const written: string[] = []
  const response = Object.assign(new EventEmitter(), {
    writableLength: 0,
    writableNeedDrain: false,
    write: (text: string) => {
      written.push(text)
      return true
    },
  })
  const stall = (): void => {
    Object.assign(response, { writableLength: 1_000, writableNeedDrain: true })
  }
  const takeAll = (): void => {
    Object.assign(response, { writableLength: 0, writableNeedDrain: false })
    response.emit('drain')
  }
  const places = (): (string | null)[] => written.map((text) => decodeTailCursor(/^id: (.*)$/m.exec(text)?.[1] ?? null))
  return { response: response as unknown as ServerResponse, written, places, stall, takeAll }
}

const page = (first: number, count: number, cursor = String(first + count - 1)): TailPage => ({
  entries: Array.from({ length: count }, (_, index) => ({ entry: eventLog(), cursor: String(first + index) })),
  more: false,
  cursor,
})

const settings = { pollMs: 1, retryMs: 1, heartbeatMs: 0, bufferedBytesMax: 100, patienceMs: 1 }

describe('the place to resume from', () => {
  test('does not move while entries are skipped, and moves past them once the reader was told', async () => {
    const { response, places, written, stall, takeAll } = createResponse()
    const sink = createTailSink({ response, names }, settings, new AbortController().signal)
    sink.begin('0')
    sink.send(page(1, 2))
    stall()
    expect(sink.send(page(3, 4))).toBe('3')
    await sink.room()
    sink.send(page(4, 3))
    sink.keepAlive('6')
    sink.send(page(7, 1))
    expect(places()).toEqual(['0', '1', '2', '3'])
    takeAll()
    sink.send(page(8, 0, '9'))
    sink.keepAlive('9')
    expect(places()).toEqual(['0', '1', '2', '3', '9', '9'])
    expect(written.at(-2)).toContain('event: skipped\ndata: {"count":4}\n\n')
    sink.send(page(10, 1))
    expect(places().at(-1)).toBe('10')
  })

  test('a reader that catches up in time skips nothing', async () => {
    const { response, places, stall, takeAll } = createResponse()
    const patient = { ...settings, patienceMs: 60_000 }
    const sink = createTailSink({ response, names }, patient, new AbortController().signal)
    stall()
    expect(sink.send(page(1, 2))).toBe('1')
    const room = sink.room()
    takeAll()
    await room
    expect(sink.send(page(2, 1))).toBe('2')
    expect(places()).toEqual(['1', '2'])
  })

  test('a reader that leaves is waited for no longer', async () => {
    const { response, places, stall } = createResponse()
    const leaving = new AbortController()
    const sink = createTailSink({ response, names }, { ...settings, patienceMs: 60_000 }, leaving.signal)
    stall()
    sink.send(page(1, 2))
    const room = sink.room()
    leaving.abort()
    await room
    expect(places()).toEqual(['1'])
  })
})
