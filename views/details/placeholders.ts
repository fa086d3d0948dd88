/** Stands where the URL of the gateway goes, without a slash at its end: readers of the API know it better than its server. */
export const GATEWAY_PLACEHOLDER = '<GATEWAY>'

/** Stands where the Team's key goes. */
export const KEY_PLACEHOLDER = '<API_KEY>'
