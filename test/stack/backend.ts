/**
 * Servers that Sluice needs, started for development and tests: brokers of one Kafka cluster, or one Elasticsearch node.
 * Nodes are counted from 1.
 */
export interface Backend {
  /** Kafka: `host:port` of each broker, in the order of the nodes. Elasticsearch: one URL. */
  readonly addresses: readonly string[]
  /** Ends the node abruptly, like a crash; its data stays. */
  kill(node: number): Promise<void>
  /** Freezes the node: its connections stay open and nothing answers. */
  pause(node: number): Promise<void>
  resume(node: number): Promise<void>
  /** Restarts a killed node with its data; resolves when it is ready. */
  restart(node: number): Promise<void>
  /** CPU seconds (user and system) that the node has used since its start. */
  cpuSeconds(node: number): Promise<number>
  /** Stops all nodes and removes their data. Idempotent. */
  stop(): Promise<void>
}

export interface KafkaOptions {
  /** Also the number of replicas; with 3, min.insync.replicas is 2. */
  readonly brokers: 1 | 2 | 3
  /** SASL for the clients' listener: PLAIN with this user, or SCRAM with users created through it. */
  readonly sasl?: { readonly username: string; readonly password: string }
  /** Enables TLS on the clients' listener. */
  readonly tls?: BrokerTls
  /** Additional broker properties, such as `message.max.bytes`. */
  readonly properties?: Readonly<Record<string, string>>
  /** JVM settings for a server under load: a larger heap and the optimising compiler, at the price of a slower start. */
  readonly underLoad?: boolean
  /** Where a provider can, data is kept in memory: it does not outlive a node that is killed. */
  readonly inMemory?: boolean
}

/** PEM texts. */
export interface BrokerTls {
  /** For all brokers, issued for 127.0.0.1. */
  readonly certificate: string
  /** In PKCS #8. */
  readonly key: string
  /** The CA of required client certificates; without it, clients need none. */
  readonly clientsCa?: string
}

export interface ElasticsearchOptions {
  /** Maximum heap size in Java's notation. */
  readonly heap?: string
  /** The optimising compiler, at the price of a slower start. */
  readonly underLoad?: boolean
  /** As for Kafka. */
  readonly inMemory?: boolean
  /** Requires HTTPS and authentication. Not every distribution supports it. */
  readonly secured?: {
    /** The password of the superuser `elastic`. */
    readonly password: string
    /** PEM text, issued for 127.0.0.1. */
    readonly certificate: string
    /** PEM text, PKCS #8. */
    readonly key: string
  }
}

/** A way to run servers: containers, or local Java processes. */
export interface BackendProvider {
  readonly name: string
  startKafka(options: KafkaOptions): Promise<Backend>
  startElasticsearch(options: ElasticsearchOptions): Promise<Backend>
}

/** The provider cannot run here; the message says what is missing. */
export class BackendUnavailableError extends Error {
  override readonly name = 'BackendUnavailableError'
}

export const KAFKA_VERSION = '4.1.0'
export const KAFKA_IMAGE = 'confluentinc/cp-kafka:8.1.0'
export const ELASTICSEARCH_VERSION = '9.5.3'
export const ELASTICSEARCH_IMAGE = `elasticsearch:${ELASTICSEARCH_VERSION}`
