import type { IncomingHttpHeaders } from 'node:http'
import type { Handler } from '../../shared/http/listener.ts'
import { type Dialect, failed, processed, unconfirmedBatch } from '../replies.ts'
import { parametersOf } from './parameters.ts'

const CREATED = 201

/** How Seq's clients are answered: in the envelope, with the status that tells, as they read nothing else. */
export const SEQ: Dialect = {
  failed,
  processed: (total, refused) => {
    // They send all of a batch again or nothing.
    const unconfirmed = unconfirmedBatch(total, refused)
    if (unconfirmed !== undefined) return failed(unconfirmed)
    const reply = processed(total, refused)
    return refused.length === 0 ? { ...reply, strictStatus: CREATED } : reply
  },
  statusOf: ({ strictStatus }) => strictStatus,
}

/**
 * Seq's clients present their key in a header of Seq's, and what cannot set headers names its Project in the address: from here on
 * both stand where ours do. A key in the address is not read: addresses end up in logs.
 */
export const withSeqHeaders =
  (handler: Handler): Handler =>
  (request, response) => {
    const { headers } = request
    setDefault(headers, 'x-api-key', headers['x-seq-apikey'])
    setDefault(headers, 'x-project-id', parametersOf(request).get('project') ?? undefined)
    return handler(request, response)
  }

function setDefault(headers: IncomingHttpHeaders, name: string, value: string | string[] | undefined): void {
  if (headers[name] === undefined || headers[name] === '') headers[name] = value
}
