/**
 * Servers that Sluice needs, started for development and tests: brokers of one Kafka cluster, or one Elasticsearch node.
 * Nodes are counted from 1.
 */
export interface Backend {
  /** Kafka: `host:port` of each broker, in the order of the nodes. Elasticsearch: one URL. */
  readonly addresses: readonly string[]
  /** Ends the node at once, as a crash does; its data stay. */
  kill(node: number): Promise<void>
  /** Freezes the node: its connections stay open and nothing answers. */
  pause(node: number): Promise<void>
  resume(node: number): Promise<void>
  /** Starts a killed node again with the data it has; resolves when it is ready. */
  restart(node: number): Promise<void>
  /** CPU seconds, of users and system, that the node has used since it was started. */
  cpuSeconds(node: number): Promise<number>
  /** Ends all nodes and removes their data. Safe to call twice. */
  stop(): Promise<void>
}

export interface KafkaOptions {
  /** 1, or 3 with replication 3 and min.insync.replicas 2. */
  readonly brokers: 1 | 3
  /** The clients' listener asks for SASL: PLAIN with this user, or SCRAM with users that it makes. */
  readonly sasl?: { readonly username: string; readonly password: string }
  /** The clients' listener is encrypted. */
  readonly tls?: BrokerTls
  /** More lines of the brokers' configuration, such as `message.max.bytes`. */
  readonly properties?: Readonly<Record<string, string>>
  /** Java as a server under load needs it: a larger heap and its best compiler, at the price of a slower start. */
  readonly underLoad?: boolean
}

/** PEM texts. */
export interface BrokerTls {
  /** For all brokers, made out to 127.0.0.1. */
  readonly certificate: string
  /** As PKCS #8. */
  readonly key: string
  /** The authority whose certificates clients have to show; absent: they need none. */
  readonly clientsCa?: string
}

export interface ElasticsearchOptions {
  /** Most bytes of the heap, as Java writes them. */
  readonly heap?: string
  /** Java's best compiler, at the price of a slower start. */
  readonly underLoad?: boolean
  /** Speaks HTTPS and asks who one is. Not every distribution can. */
  readonly secured?: {
    /** Of the user `elastic`, who may do everything. */
    readonly password: string
    /** PEM text, made out to 127.0.0.1. */
    readonly certificate: string
    /** PEM text, PKCS #8. */
    readonly key: string
  }
}

/** One way to run servers: containers, or processes of this machine's Java. */
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
