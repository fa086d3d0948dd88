import type { IncomingMessage } from 'node:http'

/** The parameters in the address of a request. */
export function parametersOf({ url = '' }: IncomingMessage): URLSearchParams {
  const start = url.indexOf('?')
  return new URLSearchParams(start === -1 ? '' : url.slice(start))
}
