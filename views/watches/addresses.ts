import { isIPv4, isIPv6 } from 'node:net'
import { createNetworkCheck } from '../../shared/runtime/networks.ts'

/**
 * Addresses of IPv4 that are not those of a host on the public Internet: the registry of special-purpose addresses (RFC 6890 and its
 * successors), multicast, and the address of Azure's host, which is a public one by its number alone.
 */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16',
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

/** Of IPv6 only the global unicast addresses are public, but for those that are set aside among them: protocols, documentation, 6to4. */
const PUBLIC_V6 = ['2000::/3']
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

/** Translates IPv4 for hosts that have IPv6 alone (RFC 6052); the last 32 bits are the address that is reached. */
const NAT64 = '64:ff9b::'

const isNotPublicV4 = createNetworkCheck(NOT_PUBLIC_V4)
const isGlobalV6 = createNetworkCheck(PUBLIC_V6)
const isSetAsideV6 = createNetworkCheck(NOT_PUBLIC_V6)

/** Whether an address, in the form that the resolver gives, is that of a host on the public Internet. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !isNotPublicV4(address)
  if (!isIPv6(address)) return false
  const inside = translatedAddress(address)
  return inside === undefined ? isGlobalV6(address) && !isSetAsideV6(address) : !isNotPublicV4(inside)
}

/** The address of IPv4 that a translated address of IPv6 reaches. */
function translatedAddress(address: string): string | undefined {
  // A URL writes every address of IPv6 in one form.
  const canonical = new URL(`http://[${address.replace(/%.*/, '')}]`).hostname.slice(1, -1)
  const [, high = '0', low] = new RegExp(`^${NAT64}(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})$`).exec(canonical) ?? []
  if (low === undefined) return undefined
  const bits = (Number.parseInt(high, 16) << 16) | Number.parseInt(low, 16)
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.')
}

/** The host of a URL as an address, where it is one: a URL brings all notations of an address into one form. */
export function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIPv4(bare) || isIPv6(bare) ? bare : undefined
}
