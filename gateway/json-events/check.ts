import { type Checked, problemSaying } from '../../shared/contract/errors.ts'
import { decodeText } from '../../shared/http/body.ts'
import { charsetProblem, codingProblem } from '../../shared/http/media-type.ts'
import type { Project } from '../../shared/registry/registry.ts'
import { createEntryCheck } from '../ingest/application-log.ts'
import type { Admitted, BatchCheck, CheckDeps } from '../ingest/checks.ts'
import type { BodyFormat } from '../ingest/endpoint.ts'
import { exceeds, type Fields, refuseNoObject, refuseTooLarge } from '../ingest/fields.ts'
import { FOREIGN_CONTEXT, inSendersNames, type PlaceOf, SENT_PER_ENTRY_MAX } from '../ingest/foreign-refusal.ts'
import { checkSender, createProjectFinder } from '../ingest/foreign-sender.ts'
import type { Dialect } from '../ingest/replies.ts'
import type { SentEntries } from '../ingest/request.ts'
import { eventsOf, type SentEvents } from './events.ts'

/** A format of JSON events that takes any of these content types, or none; `unsupported` is the message for all others. */
export function eventsFormat(contentTypes: RegExp, unsupported: string): BodyFormat {
  const wrongType = problemSaying('unsupported_media_type', unsupported)
  return {
    refusal: ({ headers }) => {
      const type = headers['content-type'] ?? ''
      if (type !== '' && !contentTypes.test(type)) return wrongType
      return charsetProblem(type) ?? codingProblem(headers)
    },
    decode: decodeText,
    parse: eventsOf,
  }
}

/** The part of a check in which endpoints for events differ. */
interface EventsEndpoint {
  /** The endpoint's name in the `IdNamespace`. */
  readonly endpoint: string
  /** The fields of an application log that an event of so many characters becomes. */
  readonly entryOf: (event: Fields, characters: number, project: Project) => Checked<Fields>
  /** The places in an event from which these fields are taken. */
  readonly placesIn: (event: Fields) => PlaceOf
  /** The dialect of the answer to this body, if it differs from the endpoint's. */
  readonly dialectOf?: (sent: SentEvents) => Dialect | undefined
}

/** Checks a body of events: the sender, the Project, then each event by itself. */
export const createEventsCheck =
  ({ endpoint, entryOf, placesIn, dialectOf }: EventsEndpoint) =>
  (deps: CheckDeps): BatchCheck => {
    const { entryBytesMax } = deps
    const eventBytesMax = SENT_PER_ENTRY_MAX * entryBytesMax
    const checkEntry = createEntryCheck(deps, deps.validators.batchEntry)
    return (received) => {
      const sender = checkSender(received.headers, deps)
      if (sender.problem !== undefined) return sender
      const projects = createProjectFinder(sender.value, deps.registry)
      const found = projects.byHeader(received.headers) ?? projects.unnamed()
      if (found.problem !== undefined) return found
      const project = found.value
      const namespace = { team: project.team, endpoint: `${endpoint}/${project.id}` }
      const context = { ...deps.contextOf(received, namespace), ...FOREIGN_CONTEXT }
      const sent = sentIn(received.json)
      const check = (index: number): Checked<Admitted> => {
        const sentEvent = sent.events[index]
        if (sentEvent === undefined) return refuseNoObject()
        if (sentEvent.event.problem !== undefined) return sentEvent.event
        const event = sentEvent.event.value
        if (context.mayExceed(eventBytesMax) && exceeds(event, eventBytesMax))
          return refuseTooLarge(event, entryBytesMax)
        const entry = entryOf(event, sentEvent.characters, project)
        const checked = entry.problem === undefined ? checkEntry(entry.value, index, project, context) : entry
        if (checked.problem === undefined) return checked
        return { problem: inSendersNames(checked.problem, { fields: event, placeOf: placesIn(event) }) }
      }
      return { value: { team: project.team, count: sent.events.length, check, dialect: dialectOf?.(sent) } }
    }
  }

/** Each event as it was sent, or the text of a line that is not an event. */
export const sentEvents: SentEntries = ({ json }) => {
  const { events } = sentIn(json)
  return (index) => events[index]?.event.value ?? events[index]?.text
}

/** The events that the format made of the body. */
const sentIn = (json: unknown): SentEvents => json as SentEvents
