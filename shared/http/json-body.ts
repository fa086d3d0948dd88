import type { IncomingMessage } from 'node:http'
import type { Checked } from '../contract/errors.ts'
import { hasLostDigits, unlessTooDeep } from '../contract/exact-json.ts'
import type { Steps } from '../runtime/cooperative.ts'
import { type Body, type BodyGrant, type Content, createBodyReader, decodeText, GONE, NO_SHARE } from './body.ts'
import { createValueHold, parseInPieces, refuseText } from './json-pieces.ts'
import { mediaProblem } from './media-type.ts'

/** A longer body is parsed and checked in slices of time; a shorter one takes a few milliseconds at most, whatever it holds. */
export const isLong = (content: Content): boolean => content.length > 256 * 1024

/** The value of a body that is one JSON text, with its numbers as `parseKeepingDigits` keeps them. */
export function* parseJsonBody({ content: text, memory }: Body<string>): Steps<Checked<unknown>> {
  return isLong(text) ? yield* parseInPieces(text, createValueHold(memory)) : yield* parseShortJson(text)
}

/** Characters of a short text that are parsed per step where digits would be lost, as that takes a hundred times as long. */
const EXACT_PIECE_CHARACTERS = 8 * 1024

/** The same for a text that is not long, whose values need no memory of the budget. One beyond `JSON_LIMITS` loses digits. */
export function* parseShortJson(text: string): Steps<Checked<unknown>> {
  const parsed = parseJson(text)
  if (!unlessTooDeep(() => hasLostDigits(parsed.value), false)) return parsed
  const exact = yield* parseInPieces(text, () => undefined, EXACT_PIECE_CHARACTERS)
  return exact.problem === undefined ? exact : parsed
}

function parseJson(text: string): Checked<unknown> {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return refuseText((error as Error).message)
  }
}

/** Reads a JSON body that is too small to need a budget. */
type SmallJsonReader = (request: IncomingMessage) => Promise<Checked<unknown> | typeof GONE>

export function createSmallJsonReader(limits: { bytesMax: number; timeoutMs: number }): SmallJsonReader {
  const { bytesMax, timeoutMs } = limits
  const granted: BodyGrant = { owner: '', wireBytesMax: bytesMax, inflatedBytesMax: bytesMax, share: NO_SHARE }
  const read = createBodyReader({
    refusal: ({ headers }) => mediaProblem(headers),
    decode: decodeText,
    grant: () => ({ value: granted }),
    timeoutMs,
  })
  return async (request) => {
    const body = await read(request)
    if (body === GONE || body.problem !== undefined) return body
    return parseJson(body.value.content)
  }
}
