import type { EntryDocument, Leaf } from '../../contract/documents.ts'
import { levelRank } from '../../contract/levels.ts'
import { wordLine } from './word-line.ts'

/** Between a leaf's path and its value. A path never holds it, so a term stands for one path and one value. */
const SEPARATOR = '\u0000'

/** The term of a leaf; with an empty value also what the terms of every value at the path begin with. */
export const leafTerm = (path: string, value: string): string => path + SEPARATOR + value

const leafTerms = (leaves: readonly Leaf[]): readonly string[] | undefined =>
  leaves.length === 0 ? undefined : leaves.map(([path, value]) => leafTerm(path, value))

/** Text that the `whitespace` analyzer splits as we do. An empty one is left out, so that having the field means having a text. */
function wordsMember(name: string, text: string | null): string {
  return text === null || text === '' ? '' : `,"${name}":${JSON.stringify(wordLine(text))}`
}

/**
 * An entry as Elasticsearch stores it, in JSON; what is null or empty is left out. `writtenAt` puts the arrivals of different
 * shards into one order; it is shown to nobody.
 */
export function entryBody(document: EntryDocument, writtenAt: number): string {
  const short = JSON.stringify({
    writtenAt,
    id: document.id,
    team: document.team,
    receivedAt: document.receivedAt,
    timestamp: document.timestamp,
    level: levelRank(document.level),
    environment: document.environment,
    correlationKey: document.correlationKey ?? undefined,
    event: document.event ?? undefined,
    step: document.step ?? undefined,
    project: document.project ?? undefined,
    category: document.category ?? undefined,
    eventId: document.eventId ?? undefined,
    eventName: document.eventName ?? undefined,
    payloadLeaves: leafTerms(document.payloadLeaves),
    scopeLeaves: leafTerms(document.scopeLeaves),
  })
  const { message, exception, payload, source } = document
  const words = wordsMember('message', message) + wordsMember('exception', exception) + wordsMember('payload', payload)
  return `${short.slice(0, -1)}${words},"source":${JSON.stringify(source)}}`
}
