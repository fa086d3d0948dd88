import type { IncomingHttpHeaders } from 'node:http'

/** Names the Project of a request by its id or its name, where the body does not. */
export const PROJECT_HEADER = 'x-project-id'

/**
 * The Team key that a request presents, or undefined if it has none: `X-API-Key`, else `X-Seq-ApiKey`, as Seq's clients send it, else
 * `Authorization: Bearer`.
 */
export function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  for (const name of ['x-api-key', 'x-seq-apikey']) {
    const key = headers[name]
    if (typeof key === 'string' && key !== '') return bare(key)
  }
  const bearer = /^Bearer +(\S+)\s*$/i.exec(headers.authorization ?? '')
  return bearer?.[1]
}

/**
 * A key as it was meant. Keys have no blanks, so a text with some is a key that was sent twice, which Node joins, or one behind `Bearer` as
 * in the other header.
 */
function bare(text: string): string {
  if (!text.includes(' ')) return text
  const [key = text, ...others] = new Set(text.split(', ').map((one) => one.replace(/^Bearer +/i, '')))
  return others.length === 0 ? key : text
}
