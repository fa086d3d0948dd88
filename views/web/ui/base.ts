import { GATEWAY_PLACEHOLDER } from '../../details/placeholders.ts'

const meta = (name: string): string => document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? ''

/** The base path that the page is served below; it begins and ends with a slash. */
export const BASE = meta('base-path') || '/'

const told = meta('gateway')

/** Whether the gateway's address for clients is known. */
export const GATEWAY_KNOWN = told !== 'unknown'

/** The gateway's address for clients, without a slash at the end; a placeholder where none is configured. */
const GATEWAY =
  told === 'unknown' ? 'https://gateway.example' : /^http/.test(told) ? told : location.origin + BASE.slice(0, -1)

/** A text of the API with the address of the gateway where it left room for it. */
export const withGateway = (text: string): string => text.replace(GATEWAY_PLACEHOLDER, () => GATEWAY)
