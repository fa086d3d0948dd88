import { type Base, type Broker, kGetBootstrapConnection, parseBroker } from '@platformatic/kafka'
import type { KafkaConnection } from './connection.ts'

/** The part of every client of the library by which it finds somebody to ask. */
type Asking = Pick<Base, typeof kGetBootstrapConnection | 'closed' | 'connections' | 'currentMetadata'>

/** `host:port` of brokers; what one client of a connection has learned, the others know. */
const learned = new WeakMap<KafkaConnection, Set<string>>()

/**
 * Has a client ask past brokers that are silent, and gives the client back.
 *
 * By itself it asks the first broker of its list: for the coordinator of a group, so that no member finds another one, for positions and for
 * settings of topics. A frozen broker still takes connections and is asked again and again. Here a broker whose connection ended, or
 * could not be made, is passed over until that has happened to all of them.
 */
export function askPastSilent<Client extends Asking>(client: Client, connection: KafkaConnection): Client {
  const listed = connection.brokers.map((broker) => parseBroker(broker))
  const silent = learned.get(connection) ?? new Set()
  learned.set(connection, silent)
  const note = ({ broker }: { readonly broker: Broker }): void => {
    // A client that is closed ends its connections itself.
    if (!client.closed) silent.add(nameOf(broker))
  }
  client.connections.on('disconnect', note)
  client.connections.on('failed', note)

  const connect = client[kGetBootstrapConnection].bind(client)
  client[kGetBootstrapConnection] = (callback, attempt = 0) => {
    // The library's own list, in its order; an attempt is the place in it where the library begins.
    const known = [...listed, ...(client.currentMetadata?.brokers.values() ?? [])].map(nameOf)
    if (known.every((name) => silent.has(name))) silent.clear()
    const places = [...known.keys()].filter((place) => !silent.has(known[place] ?? ''))
    connect(callback, places[attempt % places.length])
  }
  return client
}

const nameOf = ({ host, port }: Broker): string => `${host}:${port}`
