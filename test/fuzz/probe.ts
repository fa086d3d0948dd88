/**
 * Polls the health of the watched processes every 100 ms, each on its own connection. It is a process with scheduling priority, so that it
 * measures their delays and not its own.
 */
import { connect, type Socket } from 'node:net'
import { processTimes } from '../support/sluice-process.ts'
import type { Watched } from './target.ts'

/** A response is overdue, or has arrived. */
export interface ProbeMessage {
  readonly name: string
  readonly state: 'overdue' | 'answered'
  readonly afterMs: number
  /** CPU time within that interval of the thread that answers HTTP. */
  readonly ranMs: number
}

const EVERY_MS = 100
const OVERDUE_MS = 250
const REQUEST = 'GET /health/live HTTP/1.1\r\nHost: sluice.test\r\n\r\n'

interface Question {
  readonly askedAtMs: number
  readonly ranBeforeMs: number
}

interface Probe extends Watched {
  readonly socket: Socket
  /** The pending request. */
  question: Question | undefined
  /** Whether its delay has been reported. */
  told: boolean
}

const probes = new Map<string, Probe>()

/** CPU time of the main thread, which answers HTTP; 0 for a dead process. */
function ranMs(pid: number): number {
  try {
    return processTimes(`/proc/${pid}/task/${pid}/stat`).cpuSeconds * 1000
  } catch {
    return 0
  }
}

function tell({ name, pid }: Watched, state: ProbeMessage['state'], { askedAtMs, ranBeforeMs }: Question): void {
  const message = { name, state, afterMs: performance.now() - askedAtMs, ranMs: Math.max(0, ranMs(pid) - ranBeforeMs) }
  process.send?.(message satisfies ProbeMessage)
}

const isOverdue = ({ askedAtMs }: Question): boolean => performance.now() - askedAtMs > OVERDUE_MS

function open(watched: Watched): Probe {
  const socket = connect({ port: watched.port, host: '127.0.0.1', noDelay: true })
  const probe: Probe = { ...watched, socket, question: undefined, told: false }
  socket.on('data', () => {
    const { question } = probe
    if (question !== undefined) tell(probe, 'answered', question)
    probe.question = undefined
    probe.told = false
  })
  // The supervisor of the process reports its death.
  socket.on('error', () => {})
  socket.on('close', () => {
    if (probes.get(watched.name) === probe) probes.delete(watched.name)
  })
  return probe
}

function look(watched: Watched): void {
  const probe = probes.get(watched.name)
  if (probe === undefined || probe.port !== watched.port) {
    probe?.socket.destroy()
    probes.set(watched.name, open(watched))
    return
  }
  const { question, socket, told } = probe
  if (question === undefined) {
    if (socket.readyState !== 'open') return
    probe.question = { askedAtMs: performance.now(), ranBeforeMs: ranMs(watched.pid) }
    socket.write(REQUEST)
  } else if (!told && isOverdue(question)) {
    probe.told = true
    tell(probe, 'overdue', question)
  }
}

let all: readonly Watched[] = []
process.on('message', (message: readonly Watched[]) => {
  all = message
})
setInterval(() => {
  for (const watched of all) look(watched)
}, EVERY_MS)
// The parent process is gone.
process.on('disconnect', () => process.exit())
