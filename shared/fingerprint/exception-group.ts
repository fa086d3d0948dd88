import { type Frame, type ParsedException, parseException } from '../exception.ts'
import { masked, shortened } from './mask.ts'

/** The type and the frames that all exceptions of a group share. */
export interface ExceptionGroup {
  /** The type of the outermost exception; for a text without a type, its beginning without variable parts. */
  readonly type: string
  /** The calls of the program's own code that are nearest to the failure; if the trace has none, those of other code. */
  readonly frames: readonly string[]
}

/** Longer texts are read up to here. */
const EXCEPTION_LENGTH_MAX = 64 * 1024
const FRAMES_MAX = 3

/** Numbers that a compiler or a runtime gives to unnamed things. */
const GENERATED = /(?<=[$_]|DisplayClass)\d+|\/?0x[\da-f]+/gi
const LINE = /(?::\d+)+$/
const FOLDER = /^.*[\\/]/s

/**
 * The group of an exception: its type and the first frames of the program's own code, without folders, line numbers and generated numbers,
 * which change from build to build. Takes time proportional to the text.
 */
export function exceptionGroupOf(exception: string): ExceptionGroup {
  const parts = parseException(exception.slice(0, EXCEPTION_LENGTH_MAX))
  const [{ type, message } = { type: '', message: '' }] = parts
  const name = type === '' ? masked(message.split('\n', 1)[0] ?? '') : shortened(type)
  return { type: name, frames: framesOf(parts).slice(0, FRAMES_MAX).map(frameText) }
}

/** The frames of the program's own code in the outermost exception that has some; else the first frames there are. */
function framesOf(parts: readonly ParsedException[]): readonly Frame[] {
  for (const { frames } of parts) {
    const own = frames.filter(({ framework }) => !framework)
    if (own.length > 0) return own
  }
  return parts.find(({ frames }) => frames.length > 0)?.frames ?? []
}

/** A call with a dot is unambiguous; any other needs its file. */
function frameText({ call, place }: Frame): string {
  // Cut first: at a place of colons and numbers, the search for the line takes the square of the length.
  const file = place.slice(-1_024).replace(LINE, '').replace(FOLDER, '')
  const text = file === '' || call.includes('.') ? call : `${call} (${file})`.trim()
  return shortened(text.slice(0, 1_024).replace(GENERATED, ''))
}
