import type { IncomingHttpHeaders } from 'node:http'

/**
 * The best encoding of an answer for a client (RFC 9110, 12.5.3): the one of `codings`, in the server's order of preference, with the
 * greatest weight for the client; `identity` if it accepts none of them, or prefers that.
 */
export function acceptedCoding<Coding extends string>(
  headers: IncomingHttpHeaders,
  codings: readonly Coding[],
): Coding | 'identity' {
  const header = headers['accept-encoding']
  if (header === undefined || header === '') return 'identity'
  const weights = weightsIn(String(header))
  const any = weights.get('*') ?? 0
  let best: Coding | 'identity' = 'identity'
  // An unencoded answer is always acceptable: a client that refuses it is better off with it than without any.
  let greatest = weights.get('identity') ?? 0
  for (const coding of codings) {
    const weight = weights.get(coding) ?? any
    if (weight === 0 || weight < greatest || (weight === greatest && best !== 'identity')) continue
    best = coding
    greatest = weight
  }
  return best
}

/** The codings that a header names, in lower case, with their weights from 0 to 1. */
function weightsIn(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const item of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight >= 0 && weight <= 1 ? weight : 0)
  }
  return weights
}
