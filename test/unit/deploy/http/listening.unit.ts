import { createServer } from 'node:net'
import { expect, test, vi } from 'vitest'
import { createListening } from '../../../../deploy/http/listening.ts'

test('a connection that the system cannot accept is a warning, and the server goes on', async () => {
  const server = createServer()
  const address = { host: '127.0.0.1', port: 0, setting: 'PORT' } as const
  const { start, stop } = createListening('http', server, address, async () => void server.close())
  await start()
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const error = new Error('accept ENOBUFS')
  for (let times = 0; times < 2; times += 1) server.emit('error', error)
  expect(warn.mock.calls).toEqual([[error], [error]])
  expect(server.listening).toBe(true)
  warn.mockRestore()
  await stop(0)
})

test.each(['[::1]', '192.0.2.1'])('the host %s is told by its setting, as it is no address here', async (host) => {
  const address = { host, port: 0, setting: 'PORT' } as const
  const { start } = createListening('http', createServer(), address, async () => {})
  await expect(start()).rejects.toThrow(`HOST=${host} is no address of this machine`)
})

test('the host is told by its setting where the system has no addresses of this kind', async () => {
  const server = createServer()
  const error = Object.assign(new Error('listen EAFNOSUPPORT: address family not supported'), { code: 'EAFNOSUPPORT' })
  vi.spyOn(server, 'listen').mockImplementation(() => {
    server.emit('error', error)
    return server
  })
  const { start } = createListening('http', server, { host: '::', port: 0, setting: 'PORT' }, async () => {})
  await expect(start()).rejects.toThrow('HOST=:: is no address of this machine (EAFNOSUPPORT)')
})
