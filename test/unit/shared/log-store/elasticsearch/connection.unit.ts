import { writeFileSync } from 'node:fs'
import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { connect } from '../../../../../shared/log-store/elasticsearch/connection.ts'
import { createAuthority } from '../../../../support/certificates.ts'
import { temporaryFolder } from '../../../../support/sluice-process.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())

test('an authority that takes the place of another is used by the connections that follow', async () => {
  const [before, after] = [createAuthority('before'), createAuthority('after')]
  const { certificate, key } = after.issue('server', ['127.0.0.1'])
  const server = createServer({ cert: certificate, key }, (_request, response) => {
    response.setHeader('x-elastic-product', 'Elasticsearch').setHeader('content-type', 'application/json').end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const caFile = join(folder.path, 'ca.pem')
  writeFileSync(caFile, before.certificate)
  const told: string[] = []
  const connection = connect(
    {
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      auth: () => ({ type: 'none' }),
      caFile,
      onRefused: ({ message }) => told.push(message),
      gzip: false,
      requestTimeoutMs: 30_000,
    },
    0,
  )
  const ask = () => connection.send({ method: 'GET', path: '/' })
  try {
    await expect(ask()).rejects.toThrow('ELASTICSEARCH_CA_FILE has to name the authority')
    writeFileSync(caFile, 'half a cert')
    await expect(ask()).rejects.toThrow('ELASTICSEARCH_CA_FILE has to name the authority')
    expect(told).toEqual([expect.stringContaining('ELASTICSEARCH_CA_FILE cannot be read')])
    writeFileSync(caFile, after.certificate)
    expect(await Promise.all([ask(), ask()])).toEqual([{}, {}])
    // The first of two authorities is already written.
    writeFileSync(caFile, before.certificate + after.certificate.slice(0, 100))
    expect(await ask()).toEqual({})
    writeFileSync(caFile, '')
    expect(await ask()).toEqual({})
  } finally {
    await connection.close()
    server.close()
    server.closeAllConnections()
  }
})

test('a key that takes the place of another is used by the requests that follow', async () => {
  const presented: (string | undefined)[] = []
  const server = createPlainServer(({ headers }, response) => {
    presented.push(headers.authorization)
    response.setHeader('x-elastic-product', 'Elasticsearch').setHeader('content-type', 'application/json').end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  let apiKey = 'before'
  const connection = connect({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    auth: () => ({ type: 'apiKey', apiKey }),
    caFile: null,
    onRefused: (error) => expect.unreachable(error.message),
    gzip: false,
    requestTimeoutMs: 30_000,
  })
  const ask = () => connection.send({ method: 'GET', path: '/' })
  try {
    await ask()
    const asked = ask()
    apiKey = 'after'
    await Promise.all([asked, ask()])
    expect(presented).toEqual(['ApiKey before', 'ApiKey before', 'ApiKey after'])
  } finally {
    await connection.close()
    server.close()
    server.closeAllConnections()
  }
})
