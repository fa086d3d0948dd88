/**
 * Loaded into a Sluice process before it starts (`--import`). DAYS_BACK sets its clock back by so many days. CUT_OFF_PORTS lists the ports of
 * the brokers: SIGUSR2 cuts it off from them, and the next one lets it reach them again.
 */
import { Socket } from 'node:net'

const BACK_MS = Number(process.env['DAYS_BACK'] ?? 0) * 86_400_000
const now = Date.now
const ports = (process.env['CUT_OFF_PORTS'] ?? '').split(',').map(Number)
const open = new Set<Socket>()
let isCutOff = false

Date.now = () => now() - BACK_MS

process.on('SIGUSR2', () => {
  isCutOff = !isCutOff
  if (isCutOff) for (const socket of open) socket.destroy(new Error('cut off'))
})

const connect = Socket.prototype.connect

Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
  const [options] = args.flat() as [{ readonly port?: number } | number]
  const port = typeof options === 'number' ? options : options?.port
  if (port !== undefined && ports.includes(Number(port))) {
    open.add(this)
    this.once('close', () => open.delete(this))
    if (isCutOff) {
      process.nextTick(() => this.destroy(new Error('cut off')))
      return this
    }
  }
  return Reflect.apply(connect, this, args)
} as typeof connect
