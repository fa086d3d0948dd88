import { type Checked, refuse } from '../../shared/contract/errors.ts'
import type { Admitted } from '../ingest/admit.ts'
import { createEntryCheck } from '../ingest/application-log.ts'
import type { BatchCheck, CheckDeps } from '../ingest/checks.ts'
import { exceeds, refuseNoObject } from '../ingest/fields.ts'
import { checkSender, createProjectFinder } from '../ingest/foreign-sender.ts'
import { type Dialect, failed, processed, unconfirmedBatch } from '../ingest/replies.ts'
import type { SentEntries } from '../ingest/request.ts'
import { entryOf } from './entry.ts'
import type { Line } from './lines.ts'

const REMEDY =
  'Name the Project by its id or its name: in the header X-Project-Id, or in the address as ?project=<id or name> or before the path as /projects/<id or name>.'

/** A line that is so many times larger than an entry can be is not translated: what would be left out is less than that. */
const LINE_PER_ENTRY_MAX = 2

/** Judges a body of events: who sends, for which Project, then each line by itself. */
export function createClefCheck(deps: CheckDeps): BatchCheck {
  const { entryBytesMax } = deps
  const checkEntry = createEntryCheck(deps, deps.validators.batchEntry)
  return (received) => {
    const sender = checkSender(received.headers, deps)
    if (sender.problem !== undefined) return sender
    const projects = createProjectFinder(sender.value, deps.registry, REMEDY)
    const found = projects.byHeader(received.headers) ?? projects.unnamed()
    if (found.problem !== undefined) return found
    const project = found.value
    const origin = { team: project.team, endpoint: `ingest/clef/${project.id}` }
    // The Project's name, which may be anything, can become a part of its records.
    const context = { ...deps.contextOf(received, origin), isAscii: false }
    const lines = linesOf(received.json)
    const check = (index: number): Checked<Admitted> => {
      const line = lines[index]
      if (line === undefined) return refuseNoObject()
      if (context.isLong && exceeds(line.event.value, LINE_PER_ENTRY_MAX * entryBytesMax))
        return refuse('entry_too_large', { limit: entryBytesMax })
      const entry = entryOf(line, project)
      return entry.problem === undefined ? checkEntry(entry.value, index, project, context) : entry
    }
    return { value: { count: lines.length, check } }
  }
}

/** The event on each line as it was sent; the text of a line that is no event. The reader of lines keeps the digits of events itself. */
export const sentEvents: SentEntries = ({ json }) => {
  const lines = linesOf(json)
  return (index) => lines[index]?.event.value ?? lines[index]?.text
}

/** The lines that the format made of the body. */
const linesOf = (json: unknown): readonly Line[] => json as readonly Line[]

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
