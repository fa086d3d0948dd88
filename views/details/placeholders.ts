/** Placeholder for the gateway's URL without a trailing slash; API clients know it better than the server does. */
export const GATEWAY_PLACEHOLDER = '<GATEWAY>'

/** Placeholder for the Team's key. */
export const KEY_PLACEHOLDER = '<API_KEY>'
