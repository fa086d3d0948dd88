import type { BrokerTls } from './backend.ts'

/** The session timeout of group members in milliseconds: a third of the brokers' default, as many tests wait for it. */
export const GROUP_SESSION_MS = 15_000

interface Peer {
  readonly host: string
  readonly brokerPort: number
  readonly controllerPort: number
}

interface NodePlan {
  /** Counted from 1. */
  readonly node: number
  readonly clients: { readonly bind: string; readonly host: string; readonly port: number }
  /** All nodes, by the addresses at which they reach each other. */
  readonly peers: readonly Peer[]
  /** The address that the peers' listeners bind to. */
  readonly bind: string
  readonly sasl: { readonly username: string; readonly password: string } | undefined
  readonly tls: BrokerTls | undefined
  readonly properties: Readonly<Record<string, string>>
}

/**
 * The configuration of one node that is both broker and controller (KRaft). With three nodes: replication factor 3, and two replicas must
 * have a record before it is confirmed. A dead broker is replaced after 4 s instead of 9 s.
 */
export function kafkaProperties({
  node,
  clients,
  peers,
  bind,
  sasl,
  tls,
  properties,
}: NodePlan): Record<string, string> {
  const self = peers[node - 1]
  if (self === undefined) throw new Error(`there is no node ${node}`)
  const copies = String(peers.length)
  const inSync = String(Math.max(1, peers.length - 1))
  return {
    'process.roles': 'broker,controller',
    'node.id': String(node),
    'controller.quorum.voters': peers
      .map((peer, index) => `${index + 1}@${peer.host}:${peer.controllerPort}`)
      .join(','),
    listeners: `CLIENTS://${clients.bind}:${clients.port},PEERS://${bind}:${self.brokerPort},CONTROLLER://${bind}:${self.controllerPort}`,
    'advertised.listeners': `CLIENTS://${clients.host}:${clients.port},PEERS://${self.host}:${self.brokerPort}`,
    'listener.security.protocol.map': `CLIENTS:${sasl ? 'SASL_' : ''}${tls ? 'SSL' : 'PLAINTEXT'},PEERS:PLAINTEXT,CONTROLLER:PLAINTEXT`,
    'inter.broker.listener.name': 'PEERS',
    'controller.listener.names': 'CONTROLLER',
    ...(sasl && saslProperties(sasl)),
    ...(tls && tlsProperties(tls)),
    'default.replication.factor': copies,
    'min.insync.replicas': inSync,
    'offsets.topic.replication.factor': copies,
    'offsets.topic.num.partitions': '6',
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.min.isr': inSync,
    'share.coordinator.state.topic.replication.factor': copies,
    'share.coordinator.state.topic.min.isr': inSync,
    'group.initial.rebalance.delay.ms': '0',
    'group.consumer.min.session.timeout.ms': String(GROUP_SESSION_MS),
    'group.consumer.session.timeout.ms': String(GROUP_SESSION_MS),
    'broker.session.timeout.ms': '4000',
    'broker.heartbeat.interval.ms': '1000',
    'auto.create.topics.enable': 'false',
    'auto.leader.rebalance.enable': 'false',
    'log.cleaner.dedupe.buffer.size': '16777216',
    ...properties,
  }
}

/** PLAIN has one user from the start; SCRAM users are created over a PLAIN connection. */
function saslProperties({ username, password }: { username: string; password: string }): Record<string, string> {
  const plain = 'org.apache.kafka.common.security.plain.PlainLoginModule'
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule'
  return {
    'listener.name.clients.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    'listener.name.clients.plain.sasl.jaas.config': `${plain} required user_${username}="${password}";`,
    'listener.name.clients.scram-sha-256.sasl.jaas.config': `${scram} required;`,
    'listener.name.clients.scram-sha-512.sasl.jaas.config': `${scram} required;`,
  }
}

function tlsProperties({ certificate, key, clientsCa }: BrokerTls): Record<string, string> {
  const prefix = 'listener.name.clients.ssl'
  return {
    [`${prefix}.keystore.type`]: 'PEM',
    [`${prefix}.keystore.certificate.chain`]: oneLine(certificate),
    [`${prefix}.keystore.key`]: oneLine(key),
    ...(clientsCa !== undefined && {
      [`${prefix}.truststore.type`]: 'PEM',
      [`${prefix}.truststore.certificates`]: oneLine(clientsCa),
      [`${prefix}.client.auth`]: 'required',
    }),
  }
}

/** Escapes line breaks for a properties file. */
const oneLine = (text: string): string => text.replaceAll('\n', '\\n')
