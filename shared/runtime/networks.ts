import { BlockList, isIP } from 'node:net'

const BITS = { 4: 32, 6: 128 } as const

/** IP addresses with the same leading bits. */
interface Network {
  readonly address: string
  readonly version: 4 | 6
  /** The number of leading bits that its addresses share. */
  readonly bits: number
}

/** The network in a text, as an address or in CIDR notation; undefined for any other text. */
export function networkOf(text: string): Network | undefined {
  const [address = '', bits, ...more] = text.split('/')
  const version = isIP(address) as 0 | 4 | 6
  if (version === 0 || more.length > 0) return undefined
  const all = BITS[version]
  if (bits === undefined) return { address, version, bits: all }
  return /^\d{1,3}$/.test(bits) && Number(bits) <= all ? { address, version, bits: Number(bits) } : undefined
}

/** Whether an address is in one of the networks; invalid networks are ignored, and an invalid address is in none. */
export function createNetworkCheck(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const { address, version, bits } of networks.map(networkOf).filter((network) => network !== undefined))
    list.addSubnet(address, bits, `ipv${version}`)
  return (address) => {
    const version = isIP(address)
    return version !== 0 && list.check(address, `ipv${version as 4 | 6}`)
  }
}
