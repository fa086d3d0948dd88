import { registryOf } from './registry-topic.ts'

export const KEY = 'key-of-shop-0123456789abcdef0123456789'
export const LONE_KEY = 'key-of-lone-0123456789abcdef0123456789'
export const CHECKOUT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
export const STOCK = '3f2504e0-4f89-11d3-9a0c-0305e82c3302'
export const RETIRED = '3f2504e0-4f89-11d3-9a0c-0305e82c3305'
/** A Project of another Team. */
export const LONE = '3f2504e0-4f89-11d3-9a0c-0305e82c3306'

/** A Team with several Projects, two of which share a name, and one with a single Project. */
export const foreignRegistry = registryOf(`
teams: [{ id: shop, apiKeys: ["${KEY}"] }, { id: lone, apiKeys: ["${LONE_KEY}"] }]
projects:
  - { id: ${CHECKOUT}, team: shop, name: Checkout API }
  - { id: ${STOCK}, team: shop, name: Stock }
  - { id: 3f2504e0-4f89-11d3-9a0c-0305e82c3303, team: shop, name: Twin }
  - { id: 3f2504e0-4f89-11d3-9a0c-0305e82c3304, team: shop, name: TWIN }
  - { id: ${RETIRED}, team: shop, name: Retired, archived: true }
  - { id: ${LONE}, team: lone, name: Lone }
  - { id: 3f2504e0-4f89-11d3-9a0c-0305e82c3307, team: lone, name: Old, archived: true }
`)
