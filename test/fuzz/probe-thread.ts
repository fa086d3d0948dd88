/**
 * Asks servers for their health every 100 ms, each on a connection of its own, in a thread with nothing else to do: what it measures
 * is the server's delay and not that of whoever attacks it.
 */
import { connect, type Socket } from 'node:net'
import { parentPort } from 'node:worker_threads'

/** Where the servers are now; one that is not named is not asked. */
export type ProbeTargets = readonly { readonly name: string; readonly port: number }[]

/** An answer is overdue, or has come after all. */
export interface ProbeMessage {
  readonly name: string
  readonly state: 'overdue' | 'answered'
  readonly afterMs: number
}

const EVERY_MS = 100
export const OVERDUE_MS = 250
/** How late this thread's own timer may be before it is the machine that is too busy to measure anything. */
const OWN_LATENESS_MS = 60
const REQUEST = 'GET /health/live HTTP/1.1\r\nHost: sluice.test\r\n\r\n'

interface Probe {
  readonly name: string
  readonly port: number
  readonly socket: Socket
  /** When the answer that is waited for was asked for; undefined where none is. */
  askedAt: number | undefined
  told: boolean
}

const probes = new Map<string, Probe>()
const send = (message: ProbeMessage): void => parentPort?.postMessage(message)

function open(name: string, port: number): Probe {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const probe: Probe = { name, port, socket, askedAt: undefined, told: false }
  socket.on('data', () => {
    if (probe.askedAt !== undefined && probe.told)
      send({ name, state: 'answered', afterMs: performance.now() - probe.askedAt })
    probe.askedAt = undefined
    probe.told = false
  })
  // A process that is gone is somebody else's finding.
  socket.on('error', () => {})
  socket.on('close', () => {
    if (probes.get(name) === probe) probes.delete(name)
  })
  return probe
}

let targets: ProbeTargets = []
let tickedAt = performance.now()

function tick(): void {
  const now = performance.now()
  const lateness = now - tickedAt - EVERY_MS
  tickedAt = now
  for (const { name, port } of targets) {
    const known = probes.get(name)
    if (known === undefined || known.port !== port) {
      known?.socket.destroy()
      probes.set(name, open(name, port))
      continue
    }
    look(known, now, lateness)
  }
}

function look(probe: Probe, now: number, lateness: number): void {
  // Where this thread did not run, it is unknown when an answer came.
  if (probe.askedAt !== undefined && lateness > OWN_LATENESS_MS) probe.askedAt += lateness
  if (probe.askedAt === undefined) {
    if (probe.socket.readyState !== 'open') return
    probe.askedAt = now
    probe.socket.write(REQUEST)
    return
  }
  if (probe.told || now - probe.askedAt <= OVERDUE_MS) return
  probe.told = true
  send({ name: probe.name, state: 'overdue', afterMs: now - probe.askedAt })
}

parentPort?.on('message', (message: ProbeTargets) => {
  targets = message
})
const timer = setInterval(tick, EVERY_MS)
parentPort?.once('close', () => clearInterval(timer))
