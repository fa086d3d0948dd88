import { isIPv4, isIPv6 } from 'node:net'
import { createNetworkCheck } from '../../shared/runtime/networks.ts'

/**
 * IPv4 addresses that are not public Internet hosts: the special-purpose address registry (RFC 6890 and its successors), multicast, and
 * Azure's host address 168.63.129.16, which is public by number only.
 */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]

/** The NAT64 prefix (RFC 6052) for reaching IPv4 from IPv6-only hosts; the last 32 bits are the IPv4 address. */
const NAT64 = '64:ff9b::'

/** Only global unicast IPv6 addresses are public, except the ranges reserved for protocols, documentation and 6to4. */
const PUBLIC_V6 = ['2000::/3', `${NAT64}/96`]
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const translated = NOT_PUBLIC_V4.map((network) => {
  const [address, bits] = network.split('/')
  return `${NAT64}${address}/${96 + Number(bits)}`
})
const isPublicV6 = createNetworkCheck(PUBLIC_V6)
const isSetAside = createNetworkCheck([...NOT_PUBLIC_V4, ...NOT_PUBLIC_V6, ...translated])

/** Whether an address, in the resolver's notation, is a public Internet host. */
export const isPublicAddress = (address: string): boolean =>
  (isIPv4(address) || isPublicV6(address)) && !isSetAside(address)

/** The host of a URL if it is an address; a URL normalises all notations of an address. */
export function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIPv4(bare) || isIPv6(bare) ? bare : undefined
}
