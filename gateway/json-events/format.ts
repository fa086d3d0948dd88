import { problemSaying } from '../../shared/contract/errors.ts'
import { decodeText } from '../../shared/http/body.ts'
import { charsetProblem, codingProblem } from '../../shared/http/media-type.ts'
import type { BodyFormat } from '../ingest/endpoint.ts'
import { eventsOf } from './events.ts'

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
