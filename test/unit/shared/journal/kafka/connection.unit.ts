import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { clientOptions, type KafkaSettings, kafkaConnection } from '../../../../../shared/journal/kafka/connection.ts'
import { createAuthority } from '../../../../support/certificates.ts'
import { temporaryFolder } from '../../../../support/sluice-process.ts'

const plain: KafkaSettings = {
  KAFKA_BROKERS: ['one:9092', 'two:9092'],
  KAFKA_CLIENT_ID: 'sluice',
  KAFKA_SSL: false,
  KAFKA_SSL_CA_FILE: null,
  KAFKA_SSL_CERT_FILE: null,
  KAFKA_SSL_KEY_FILE: null,
  KAFKA_SASL_MECHANISM: 'none',
  KAFKA_SASL_USERNAME: null,
  KAFKA_SASL_PASSWORD: null,
  secretFiles: {},
}
const authority = createAuthority('authority')
const client = authority.issue('client')
const folder = temporaryFolder()
afterAll(folder.remove)
let made = 0
const fileOf = (text: string): string => {
  const path = join(folder.path, `${++made}.pem`)
  writeFileSync(path, text)
  return path
}

const unexpected = (error: Error): never => {
  throw error
}

describe('the settings of a connection', () => {
  test('neither encryption nor login unless asked for', () => {
    const options = clientOptions(kafkaConnection(plain, unexpected), { requestTimeoutMs: 1_000, retries: 0 })
    expect(options).toMatchObject({ clientId: 'sluice', bootstrapBrokers: ['one:9092', 'two:9092'] })
    expect(options).not.toHaveProperty('tls')
    expect(options).not.toHaveProperty('sasl')
  })

  test('the library never makes a topic', () => {
    const options = clientOptions(kafkaConnection(plain, unexpected), { requestTimeoutMs: 1_000, retries: 0 })
    expect(options.autocreateTopics).toBe(false)
  })

  test('certificates are read, and the server is asked for by its name', () => {
    const settings = {
      ...plain,
      KAFKA_SSL: true,
      KAFKA_SSL_CA_FILE: fileOf(authority.certificate),
      KAFKA_SSL_CERT_FILE: fileOf(client.certificate),
      KAFKA_SSL_KEY_FILE: fileOf(client.key),
    }
    const options = clientOptions(kafkaConnection(settings, unexpected), { requestTimeoutMs: 1_000, retries: 0 })
    expect(options.tls).toEqual({ ca: authority.certificate, cert: client.certificate, key: client.key })
    expect(options.tlsServerName).toBe(true)
  })

  test.each([
    [['10.0.0.1:9092'], false],
    [['[::1]:9092', '10.0.0.1:9092'], false],
    [['10.0.0.1:9092', 'broker.example:9092'], true],
  ])('a server is asked for by name only where it has one: %j', (brokers, asked) => {
    const connection = kafkaConnection({ ...plain, KAFKA_BROKERS: brokers, KAFKA_SSL: true }, unexpected)
    expect(clientOptions(connection, { requestTimeoutMs: 1_000, retries: 0 }).tlsServerName).toBe(asked)
  })

  test.each([
    [{ KAFKA_SSL: true, KAFKA_SSL_CA_FILE: '/nowhere' }, 'KAFKA_SSL_CA_FILE cannot be read'],
    [{ KAFKA_SSL: true, KAFKA_SSL_CA_FILE: fileOf('no PEM') }, 'KAFKA_SSL_CA_FILE cannot be read'],
    [{ KAFKA_SSL: true, KAFKA_SSL_KEY_FILE: fileOf('no PEM') }, 'KAFKA_SSL_KEY_FILE cannot be read'],
    [{ KAFKA_SSL: true, KAFKA_SSL_CERT_FILE: fileOf(client.certificate) }, 'belong together'],
    [
      {
        KAFKA_SSL: true,
        KAFKA_SSL_CERT_FILE: fileOf(client.certificate),
        KAFKA_SSL_KEY_FILE: fileOf(authority.key),
      },
      'KAFKA_SSL_KEY_FILE is not the key of the certificate',
    ],
    [{ KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'me' }, 'needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD'],
  ] as const)('what is missing is said: %j', (changes, message) => {
    expect(() => kafkaConnection({ ...plain, ...changes }, unexpected)).toThrow(message)
  })
})

test('each new connection has the certificates that the files hold then, and the last good ones where these are no good', () => {
  const files = { ca: fileOf(authority.certificate), cert: fileOf(client.certificate), key: fileOf(client.key) }
  const told: string[] = []
  const settings = {
    ...plain,
    KAFKA_SSL: true,
    KAFKA_SSL_CA_FILE: files.ca,
    KAFKA_SSL_CERT_FILE: files.cert,
    KAFKA_SSL_KEY_FILE: files.key,
  }
  const connection = kafkaConnection(settings, ({ message }) => told.push(message))
  const { tls } = clientOptions(connection, { requestTimeoutMs: 1_000, retries: 0 })
  const asked = () => ({ ...tls })
  const before = { ca: authority.certificate, cert: client.certificate, key: client.key }
  const next = authority.issue('client')
  // Somebody copies one file after the other.
  writeFileSync(files.cert, next.certificate)
  expect([asked(), asked()]).toEqual([before, before])
  expect(told).toEqual(['KAFKA_SSL_KEY_FILE is not the key of the certificate in KAFKA_SSL_CERT_FILE'])
  writeFileSync(files.key, next.key)
  expect(asked()).toEqual({ ca: authority.certificate, cert: next.certificate, key: next.key })
  writeFileSync(files.ca, '')
  expect(asked()).toEqual({ ca: authority.certificate, cert: next.certificate, key: next.key })
  expect(told).toHaveLength(2)
  // Of a chain and of several authorities, the first one is already written.
  writeFileSync(files.ca, authority.certificate + half(next.certificate))
  writeFileSync(files.cert, next.certificate + half(authority.certificate))
  expect(asked()).toEqual({ ca: authority.certificate, cert: next.certificate, key: next.key })
  writeFileSync(files.ca, authority.certificate + next.certificate)
  expect(asked().cert).toBe(next.certificate)
  writeFileSync(files.cert, next.certificate + authority.certificate)
  expect(asked()).toEqual({
    ca: authority.certificate + next.certificate,
    cert: next.certificate + authority.certificate,
    key: next.key,
  })
})

const half = (pem: string): string => pem.slice(0, pem.length / 2)
