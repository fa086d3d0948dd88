import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { serveThread } from '../../../../../shared/runtime/threads/serve-thread.ts'
import { EchoError } from './echo-error.ts'

/** A thread whose set-up fails while a server of its own listens; the mood of the error is that one's port. */
await serveThread(async () => {
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  throw new EchoError('too late', String((server.address() as AddressInfo).port))
})
