import { GATEWAY_PLACEHOLDER } from '../../details/placeholders.ts'

const meta = (name: string): string => document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? ''

/** The page's base path; begins and ends with a slash. */
export const BASE = meta('base-path') || '/'

const told = meta('gateway')

/** Whether the gateway's address for clients is known. */
export const GATEWAY_KNOWN = told !== 'unknown'

/** The gateway's address for clients, without a trailing slash; a placeholder if none is configured. */
const GATEWAY =
  told === 'unknown' ? 'https://gateway.example' : /^http/.test(told) ? told : location.origin + BASE.slice(0, -1)

/** Replaces the API's gateway placeholder with the gateway's address. */
export const withGateway = (text: string): string => text.replace(GATEWAY_PLACEHOLDER, () => GATEWAY)
