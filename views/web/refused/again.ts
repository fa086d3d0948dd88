import { KEY_PLACEHOLDER, pasteable, shellQuote } from '../logs/curl.ts'
import type { Refusal } from '../team/types.ts'

const BATCH = '/api/ApplicationLogs/batch'

/**
 * The refused entry in a request of its own, with the nearest known identifier where there is one; null where not all of it is there:
 * it was cut, or is one of a batch of another form than ours.
 */
export function bodyToTry({ endpoint, body, bodyCut, index, identifier, nearest }: Refusal): string | null {
  if (body === null || bodyCut || (index !== null && endpoint !== BATCH)) return null
  if (index !== null) return `{"uniqueIdentifier":${JSON.stringify(identifier)},"logEntries":[${body}]}`
  if (nearest === null || identifier === null) return body
  return body.replace(JSON.stringify(identifier), () => JSON.stringify(nearest.identifier))
}

/** The command that tries again; `gateway` is the URL without the path. */
export function curlToTry(refusal: Refusal, gateway: string): string | null {
  const body = bodyToTry(refusal)
  if (body === null) return null
  return [
    `curl ${shellQuote(gateway + refusal.endpoint)}`,
    `-H ${shellQuote(`X-API-Key: ${KEY_PLACEHOLDER}`)}`,
    `-H ${shellQuote('Content-Type: application/json')}`,
    `--data-raw ${shellQuote(pasteable(body))}`,
  ].join(' \\\n  ')
}

/** What is wrong, place by place, where the details say so; else the details as text. */
export function placesOf(details: unknown): readonly { readonly path: string; readonly message: string }[] {
  if (details === null) return []
  if (
    Array.isArray(details) &&
    details.every(({ path, message }) => [path, message].every((one) => typeof one === 'string'))
  )
    return details
  return [{ path: '', message: JSON.stringify(details) }]
}
