import { problem } from '../../shared/errors.ts'
import { parseJsonBody } from '../../shared/http/body.ts'
import { mediaProblem } from '../../shared/http/media-type.ts'
import type { BodyFormat } from '../endpoint.ts'

const PROTOBUF = /^application\/(?:x-|vnd\.google\.)?protobuf\b/i

const PROTOBUF_REFUSED =
  'The body is Protobuf, and this endpoint takes the JSON encoding of OTLP/HTTP. ' +
  'Set OTEL_EXPORTER_OTLP_PROTOCOL=http/json, or `encoding: json` of the otlphttp exporter of a Collector.'

/** The JSON encoding of OTLP. Protobuf is what most clients send unless they are told otherwise, so its refusal tells them. */
export const OTLP_FORMAT: BodyFormat = {
  refusal: ({ headers }) =>
    PROTOBUF.test(headers['content-type'] ?? '')
      ? problem('unsupported_media_type', null, PROTOBUF_REFUSED)
      : mediaProblem(headers),
  parse: parseJsonBody,
}
