import type { Draft } from '../draft.ts'

const HTTP_1_1 = 'HTTP/1.1'

/**
 * The fault for which a request has to be refused regardless of its content (RFC 9112, 3.2, 6.1 and 7): a server that accepts it may
 * interpret it differently than a proxy in front of it. Undefined for any other request, and if the serialised bytes were changed.
 */
export function invalidity({ version, headers, chunks, body, mutations }: Draft): string | undefined {
  if (version !== HTTP_1_1 || mutations.some((name) => name.startsWith('wire'))) return undefined
  const count = (wanted: string): number => headers.filter(([name]) => name.toLowerCase() === wanted).length
  const hosts = count('host')
  if (hosts !== 1) return hosts === 0 ? 'without Host' : 'with more than one Host'
  const isChunked = chunks !== undefined && body !== undefined
  const codings = headers
    .filter(([name]) => name.toLowerCase() === 'transfer-encoding')
    .map(([, coding]) => coding.trim().toLowerCase())
  if (count('content-length') > 0 && (codings.length > 0 || isChunked))
    return 'with Content-Length and Transfer-Encoding'
  if (codings.some((coding) => coding !== '' && coding !== 'chunked')) return 'with a transfer coding beside chunked'
  return undefined
}
