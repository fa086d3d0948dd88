import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { createNetworkCheck } from '../runtime/networks.ts'

/** The part of a request that shows who sent it, and through which proxies. */
export type Forwarded = Pick<IncomingMessage, 'headers' | 'socket'>

/** The trusted part of a request's path through proxies. */
export interface Proxies {
  /** The address of the client: that of the connection, or the one that the trusted proxies in between report. */
  clientOf(request: Forwarded): string
  /** The protocol between the client and the outermost proxy, such as `https`; undefined if no trusted proxy reports it. */
  protocolOf(request: Forwarded): string | undefined
  /** The host that the outermost proxy was asked for; undefined if no trusted proxy reports it. */
  hostOf(request: Forwarded): string | undefined
  /** Whether an untrusted peer reports any of this. */
  ignores(request: Forwarded): boolean
}

const HEADERS = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'] as const

type Header = (typeof HEADERS)[number]

/** Trusts what proxies with these addresses, or in these networks, add to a request; entries that are neither are ignored. */
export function createProxies(networks: readonly string[]): Proxies {
  const trusts = createNetworkCheck(networks)
  const peerOf = ({ socket }: Forwarded): string => addressOf(socket.remoteAddress ?? '') ?? ''
  const forwardedAs = (request: Forwarded, name: Header): string | undefined =>
    trusts(peerOf(request)) ? listOf(request, name)[0] : undefined
  return {
    clientOf: (request) => {
      let client = peerOf(request)
      // Each proxy appends the address that sent it the request: a client can make up everything before its own address.
      for (const hop of listOf(request, 'x-forwarded-for').toReversed()) {
        const address = addressOf(hop)
        if (!trusts(client) || address === undefined) break
        client = address
      }
      return client
    },
    protocolOf: (request) => forwardedAs(request, 'x-forwarded-proto'),
    hostOf: (request) => forwardedAs(request, 'x-forwarded-host'),
    ignores: (request) => HEADERS.some((name) => name in request.headers) && !trusts(peerOf(request)),
  }
}

/** The list in a header, which proxies extend or repeat. */
const listOf = ({ headers }: Forwarded, name: Header): readonly string[] =>
  [headers[name] ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** An address in any form that these headers use: with a port, IPv6 in brackets or with a zone, IPv4 in the form of IPv6. */
function addressOf(text: string): string | undefined {
  const bare = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text)
  const address = (bare?.[1] ?? bare?.[2] ?? text).replace(/^::ffff:(?=\d+\.)|%.*$/gi, '')
  return isIP(address) === 0 ? undefined : address
}
