import type { Draft } from '../draft.ts'
import type { Random } from '../random.ts'
import {
  compressed,
  inChunks,
  otherBytes,
  otherStructure,
  strangelyCompressed,
  tearingFraming,
  unaskedBody,
} from './body.ts'
import { otherHeaders, tearingHeaders } from './headers.ts'
import { otherLine, tearingLine } from './line.ts'

type Change = (draft: Draft, random: Random) => Draft

const ALL: readonly (readonly [number, Change])[] = [
  [30, otherStructure],
  [8, otherBytes],
  [14, otherHeaders],
  [2, tearingHeaders],
  [6, otherLine],
  [1, tearingLine],
  [6, compressed],
  [3, strangelyCompressed],
  [6, inChunks],
  [2, unaskedBody],
  [2, tearingFraming],
]

/** Weights of the number of mutations: mostly one, so that its effect can be identified. */
const DEPTHS = [
  [15, 0],
  [55, 1],
  [20, 2],
  [10, 4],
] as const

/** Applies no, one or several mutations; `only` limits them to the structure of the body. */
export function mutated(draft: Draft, random: Random, only?: 'structure'): Draft {
  const changes = Array.from({ length: random.weighted(DEPTHS) }, () =>
    only === undefined ? random.weighted(ALL) : otherStructure,
  )
  return changes.reduce((one, change) => change(one, random), draft)
}
