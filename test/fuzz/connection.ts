import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { AnswerError } from './answer-head.ts'
import { type Answer, createAnswerParser } from './answer-parser.ts'
import type { Script } from './plan.ts'

/** The outcome of a script. */
export interface Exchange {
  readonly answers: readonly Answer[]
  /** A response that had begun when it was abandoned or cut off. */
  readonly begun: Answer | undefined
  /** How the other side ended the connection; `open` if it did not. */
  readonly ended: 'open' | 'closed' | 'reset'
  /** The fault by which the received bytes are not HTTP. */
  readonly garbled: string | undefined
  /** Whether the timeout passed before all responses had arrived. */
  readonly late: boolean
}

/** One connection to a server, for consecutive scripts. */
export interface Connection {
  run(script: Script, wire: Buffer): Promise<Exchange>
  /** Whether it can be reused for another script. */
  fit(): boolean
  /** Whether the other side closed it soon after a response without announcing it. */
  endedIdle(): boolean
  /** The beginning of a response that arrived without a request. */
  unasked(): string | undefined
  close(): void
}

/** Maximum silence while a response is outstanding: longer than the minute that an export waits for other reads. */
const PATIENCE_MS = 75_000
/** Maximum wait for responses that are not required. */
const UNOWED_PATIENCE_MS = 150
/** A connection may be closed for being idle, but not sooner than this. */
const IDLE_MIN_MS = 5_000

export async function openConnection(port: number): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return createConnection(socket)
}

function createConnection(socket: Socket): Connection {
  const parser = createAnswerParser()
  let answers: Answer[] = []
  let ended: Exchange['ended'] = 'open'
  let garbled: string | undefined
  let usedAt = performance.now()
  let endedAt = 0
  let wake: () => void = () => {}

  const read = (work: () => readonly Answer[]): void => {
    try {
      answers.push(...work())
    } catch (error) {
      if (!(error instanceof AnswerError)) throw error
      garbled ??= error.message
      socket.destroy()
    }
    wake()
  }
  socket.on('data', (bytes: Buffer) => read(() => parser.push(bytes)))
  const end = (how: Exchange['ended']): void => {
    if (ended !== 'open') return
    ended = how
    endedAt = performance.now()
  }
  socket.on('end', () => {
    end('closed')
    read(() => parser.end())
    socket.end()
  })
  for (const event of ['error', 'close']) {
    socket.on(event, () => {
      end('reset')
      wake()
    })
  }

  /** Resolves when the condition holds, the connection ends, or after `withinMs`; returns whether it timed out. */
  function until(condition: () => boolean, withinMs: number): Promise<boolean> {
    const isOver = (): boolean => condition() || ended !== 'open' || garbled !== undefined
    if (isOver()) return Promise.resolve(false)
    return new Promise((resolve) => {
      const timer = setTimeout(() => finish(true), withinMs)
      const finish = (late: boolean): void => {
        clearTimeout(timer)
        wake = () => {}
        resolve(late)
      }
      wake = () => {
        if (isOver()) finish(false)
      }
    })
  }

  /** Waits for the condition as long as bytes arrive, since a long export has no other end. Returns whether it fell silent. */
  async function isSilent(condition: () => boolean): Promise<boolean> {
    for (;;) {
      const before = socket.bytesRead
      if (!(await until(condition, PATIENCE_MS))) return false
      if (socket.bytesRead === before) return true
    }
  }

  async function send(wire: Buffer, { cuts, pauseMs }: Script): Promise<void> {
    let at = 0
    for (const cut of [...cuts, wire.length]) {
      if (ended !== 'open' || socket.destroyed) return
      if (cut > at) socket.write(wire.subarray(at, cut))
      at = Math.max(at, cut)
      if (cut < wire.length) await (pauseMs === 0 ? new Promise(setImmediate) : delay(pauseMs))
    }
  }

  async function wait(script: Script): Promise<boolean> {
    const { end, owed, requests } = script
    const patienceMs = owed > 0 ? PATIENCE_MS : UNOWED_PATIENCE_MS
    switch (end.kind) {
      case 'break':
        await until(() => false, end.afterMs)
        socket.destroy()
        return false
      case 'leave':
        socket.pause()
        setTimeout(() => socket.destroy(), end.forMs).unref()
        return false
      case 'read':
        if (await until(() => answers.length > 0 || parser.begun() !== undefined, patienceMs)) return owed > 0
        await until(() => answers.length > 0, end.forMs)
        socket.destroy()
        return false
      case 'half-close':
        socket.end()
        break
      default:
    }
    if (await isSilent(() => answers.length >= owed)) return true
    if (owed < requests.length) await until(() => answers.length >= requests.length, UNOWED_PATIENCE_MS)
    return false
  }

  return {
    run: async (script, wire) => {
      answers = []
      for (const { method } of script.requests) parser.expect(method)
      await send(wire, script)
      const late = await wait(script)
      if (script.owed < script.requests.length && script.end.kind !== 'leave') socket.destroy()
      const exchange = { answers, begun: parser.begun(), ended, garbled, late }
      answers = []
      usedAt = performance.now()
      return exchange
    },
    fit: () => ended === 'open' && garbled === undefined && !socket.destroyed && answers.length === 0,
    endedIdle: () => ended !== 'open' && answers.length === 0 && endedAt - usedAt < IDLE_MIN_MS,
    unasked: () => answers[0] && `${answers[0].status} ${answers[0].body.toString('latin1', 0, 200)}`,
    close: () => socket.destroy(),
  }
}
