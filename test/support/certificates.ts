import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** A certificate and its private key, as PEM texts (the key as PKCS #8). */
export interface Certificate {
  readonly certificate: string
  readonly key: string
}

/** A test's own certificate authority, and the certificates it signs. */
export interface Authority extends Certificate {
  /** A certificate for servers with these names and IPv4 addresses, or for clients. `endsAt`: milliseconds since 1970. */
  issue(subject: string, hosts?: readonly string[], endsAt?: number): Certificate
}

const OIDS = {
  commonName: '2.5.4.3',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
} as const
const DAY_MS = 86_400_000

/** Creates an authority with a new key; nothing is stored, and nothing besides Node is needed. */
export function createAuthority(name: string): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const make = (
    subject: string,
    publicKey: KeyObject,
    privateKey: KeyObject,
    extensions: readonly Buffer[],
    endsAt = Date.now() + DAY_MS,
  ) => ({
    certificate: pem('CERTIFICATE', signed(keys.privateKey, { issuer: name, subject, publicKey, extensions, endsAt })),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  })
  const isAuthority = extension(OIDS.basicConstraints, sequence(der(0x01, Buffer.of(0xff))))
  return {
    ...make(name, keys.publicKey, keys.privateKey, [isAuthority]),
    issue: (subject, hosts = [], endsAt) => {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const names = hosts.length === 0 ? [] : [extension(OIDS.subjectAlternativeName, sequence(...hosts.map(hostName)))]
      return make(subject, publicKey, privateKey, names, endsAt)
    },
  }
}

interface Contents {
  readonly issuer: string
  readonly subject: string
  readonly publicKey: KeyObject
  readonly extensions: readonly Buffer[]
  readonly endsAt: number
}

/** An X.509 certificate of version 3 (RFC 5280, 4.1), valid from yesterday. */
function signed(signer: KeyObject, { issuer, subject, publicKey, extensions, endsAt }: Contents): Buffer {
  const algorithm = sequence(oid(OIDS.ecdsaWithSha256))
  const body = sequence(
    tagged(0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    algorithm,
    commonName(issuer),
    sequence(time(Date.now() - DAY_MS), time(endsAt)),
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [tagged(3, sequence(...extensions))]),
  )
  return sequence(body, algorithm, bits(sign('sha256', body, signer)))
}

const commonName = (text: string): Buffer =>
  sequence(der(0x31, sequence(oid(OIDS.commonName), der(0x0c, Buffer.from(text)))))

const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), der(0x04, value))

/** A subject alternative name: tag 7 is an IP address, tag 2 a DNS name (RFC 5280, 4.2.1.6). */
const hostName = (host: string): Buffer =>
  /^[\d.]+$/.test(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host))

/** A value in DER: tag, length, content (X.690). */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

const sequence = (...members: readonly Buffer[]): Buffer => der(0x30, ...members)
const tagged = (number: number, member: Buffer): Buffer => der(0xa0 + number, member)
const integer = (bytes: Buffer): Buffer => der(0x02, bytes)
const bits = (bytes: Buffer): Buffer => der(0x03, Buffer.of(0), bytes)
/** UTCTime, with a two-digit year, as required for times before 2050 (RFC 5280, 4.1.2.5). */
const time = (at: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(at).toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`))

/** The first two numbers share a byte; the others are encoded in groups of seven bits. */
function oid(text: string): Buffer {
  const [first = 0, second = 0, ...others] = text.split('.').map(Number)
  const groups = (value: number): readonly number[] => {
    const bytes = [value & 0x7f]
    for (let rest = value >> 7; rest > 0; rest >>= 7) bytes.unshift((rest & 0x7f) | 0x80)
    return bytes
  }
  return der(0x06, Buffer.from([40 * first + second, ...others.flatMap(groups)]))
}

const pem = (label: string, bytes: Buffer): string =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`
