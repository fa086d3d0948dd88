import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { BaseOptions } from '@platformatic/kafka'
import { type Config, newestSecret } from '../../runtime/config.ts'
import { lastGood, parseCertificates } from '../../runtime/last-good.ts'

/** The addresses of a cluster, and the credentials of the client. */
export interface KafkaConnection {
  /** `host:port` of some brokers; the others are learned from them. */
  readonly brokers: readonly string[]
  /** Names this process in the brokers' logs and quotas. */
  readonly clientId: string
  /** Null: no encryption. PEM texts, read for each new connection; a null `ca` stands for the authorities that Node trusts. */
  readonly ssl: { readonly ca: string | null; readonly cert: string | null; readonly key: string | null } | null
  /** Read for each new connection. */
  readonly sasl: {
    readonly mechanism: SaslMechanism
    readonly username: string
    readonly password: string
  } | null
}

type SaslMechanism = 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'

/** The settings that define a connection; a part of `Config`. */
export interface KafkaSettings {
  readonly KAFKA_BROKERS: readonly string[]
  readonly KAFKA_CLIENT_ID: string
  readonly KAFKA_SSL: boolean
  readonly KAFKA_SSL_CA_FILE: string | null
  readonly KAFKA_SSL_CERT_FILE: string | null
  readonly KAFKA_SSL_KEY_FILE: string | null
  readonly KAFKA_SASL_MECHANISM: 'none' | SaslMechanism
  readonly KAFKA_SASL_USERNAME: string | null
  readonly KAFKA_SASL_PASSWORD: string | null
  readonly secretFiles: Config['secretFiles']
}

/**
 * Reads the certificates and the password now and for new connections: if their files are unusable then, the last good ones are used and
 * `onRefused` is called. Throws if a file cannot be read at first or is not a certificate or key, or if SASL lacks its user or password.
 */
export function kafkaConnection(settings: KafkaSettings, onRefused: (error: Error) => void): KafkaConnection {
  const certificates = settings.KAFKA_SSL ? lastGood(() => readCertificates(settings), onRefused) : () => null
  const sasl = saslOf(settings, onRefused)
  return {
    brokers: settings.KAFKA_BROKERS,
    clientId: settings.KAFKA_CLIENT_ID,
    get ssl() {
      return certificates()
    },
    get sasl() {
      return sasl()
    },
  }
}

function readCertificates(settings: KafkaSettings): NonNullable<KafkaConnection['ssl']> {
  const read = (
    name: 'KAFKA_SSL_CA_FILE' | 'KAFKA_SSL_CERT_FILE' | 'KAFKA_SSL_KEY_FILE',
    parse: (text: string) => unknown,
  ): string | null => {
    const path = settings[name]
    if (path === null) return null
    try {
      const text = readFileSync(path, 'utf8')
      parse(text)
      return text
    } catch (error) {
      throw new Error(`${name} cannot be read: ${(error as Error).message}`, { cause: error })
    }
  }
  const ca = read('KAFKA_SSL_CA_FILE', parseCertificates)
  const cert = read('KAFKA_SSL_CERT_FILE', parseCertificates)
  const key = read('KAFKA_SSL_KEY_FILE', createPrivateKey)
  if ((cert === null) !== (key === null)) {
    throw new Error('KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE belong together; set both or neither')
  }
  if (cert !== null && key !== null && !parseCertificates(cert)[0]?.checkPrivateKey(createPrivateKey(key))) {
    throw new Error('KAFKA_SSL_KEY_FILE is not the key of the certificate in KAFKA_SSL_CERT_FILE')
  }
  return { ca, cert, key }
}

function saslOf(settings: KafkaSettings, onRefused: (error: Error) => void): () => KafkaConnection['sasl'] {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: first } = settings
  if (mechanism === 'none') return () => null
  if (username === null || first === null) {
    throw new Error(`KAFKA_SASL_MECHANISM=${mechanism} needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD`)
  }
  const password = newestSecret(settings, 'KAFKA_SASL_PASSWORD', onRefused, 0)
  return () => ({ mechanism, username, password: password() ?? first })
}

/**
 * The options of every client of the library. The library creates no topics, whatever the brokers allow, as a misspelt name is an error.
 * Its own metadata cache expires slowly, because it asks the first broker of the list for new metadata, and a send or a fetch would wait
 * for that broker even if it is frozen; the adapter refreshes the cache itself after each failure.
 */
export function clientOptions(
  connection: KafkaConnection,
  { requestTimeoutMs, retries }: { readonly requestTimeoutMs: number; readonly retries: number },
): BaseOptions {
  const { brokers, clientId, ssl, sasl } = connection
  return {
    clientId,
    bootstrapBrokers: [...brokers],
    autocreateTopics: false,
    connectTimeout: Math.min(requestTimeoutMs, 3_000),
    requestTimeout: requestTimeoutMs,
    timeout: requestTimeoutMs,
    retries,
    retryDelay: 200,
    metadataMaxAge: 3_600_000,
    ...(ssl && {
      tls: newestCertificates(connection),
      // TLS allows no IP address as a server name, and Node warns if it is given one.
      tlsServerName: brokers.some((broker) => isIP(hostOf(broker)) === 0),
    }),
    ...(sasl && { sasl: { ...sasl, password: () => connection.sasl?.password ?? sasl.password } }),
  }
}

/** The library spreads these options for each connection that it makes, and so reads them in this order. */
function newestCertificates(connection: KafkaConnection): NonNullable<BaseOptions['tls']> {
  let ssl: KafkaConnection['ssl'] = null
  return {
    get ca() {
      ssl = connection.ssl
      return ssl?.ca ?? undefined
    },
    get cert() {
      return ssl?.cert ?? undefined
    },
    get key() {
      return ssl?.key ?? undefined
    },
  }
}

const hostOf = (broker: string): string => broker.slice(0, broker.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1')

/** Enough attempts to get past every broker of the list that is reachable but does not answer. */
export const triesPast = ({ brokers }: KafkaConnection): number => brokers.length + 1
