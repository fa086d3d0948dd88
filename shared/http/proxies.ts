import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { createNetworkCheck } from '../runtime/networks.ts'

/** The part of a request that tells who sent it and through whom. */
export type Forwarded = Pick<IncomingMessage, 'headers' | 'socket'>

/** The believed part of the way that a request took before it came here. */
export interface Proxies {
  /** The address of the client: that of the connection, or the one that the trusted proxies between tell. */
  clientOf(request: Forwarded): string
  /** The protocol between the client and the outermost proxy, such as `https`; undefined where no trusted proxy tells. */
  protocolOf(request: Forwarded): string | undefined
  /** The host that the outermost proxy was asked for; undefined where no trusted proxy tells. */
  hostOf(request: Forwarded): string | undefined
  /** Whether somebody who is not trusted tells any of this. */
  ignores(request: Forwarded): boolean
}

const HEADERS = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'] as const

type Header = (typeof HEADERS)[number]

/** Believes what proxies with these addresses, or in these networks, add to a request; entries that are neither are left out. */
export function createProxies(networks: readonly string[]): Proxies {
  const trusts = createNetworkCheck(networks)
  const peerOf = ({ socket }: Forwarded): string => addressOf(socket.remoteAddress ?? '') ?? ''
  const told = (request: Forwarded, name: Header): string | undefined =>
    trusts(peerOf(request)) ? listOf(request, name)[0] : undefined
  return {
    clientOf: (request) => {
      let client = peerOf(request)
      // Each proxy adds at the end who it was that asked it: a client can make up all that stands before its own address.
      for (const hop of listOf(request, 'x-forwarded-for').toReversed()) {
        const address = addressOf(hop)
        if (!trusts(client) || address === undefined) break
        client = address
      }
      return client
    },
    protocolOf: (request) => told(request, 'x-forwarded-proto'),
    hostOf: (request) => told(request, 'x-forwarded-host'),
    ignores: (request) => HEADERS.some((name) => name in request.headers) && !trusts(peerOf(request)),
  }
}

/** A list in a header, which proxies make longer or repeat. */
const listOf = ({ headers }: Forwarded, name: Header): readonly string[] =>
  [headers[name] ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** An address as it may stand there: with a port, an IPv6 address in brackets or with a zone, an IPv4 address in the form of IPv6. */
function addressOf(text: string): string | undefined {
  const bare = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text)
  const address = (bare?.[1] ?? bare?.[2] ?? text).replace(/^::ffff:(?=\d+\.)|%.*$/gi, '')
  return isIP(address) === 0 ? undefined : address
}
