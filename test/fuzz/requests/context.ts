import type { Header } from '../draft.ts'
import { HOST, type Material, type TeamMaterial } from '../material.ts'
import type { Random } from '../random.ts'

/** The ingredients of a request. */
export interface Context {
  readonly random: Random
  readonly material: Material
  /** A text that is unique to this request, by which its entries are found. */
  readonly mark: string
}

const host: Header = ['Host', HOST]

/** The headers of a client with this Team's key, in one of the supported forms. */
export function headersOf({ random }: Context, { key }: TeamMaterial, more: readonly Header[] = []): readonly Header[] {
  const sent: Header = random.oneIn(6) ? ['Authorization', `Bearer ${key}`] : ['X-API-Key', key]
  return [host, sent, ...more]
}

export const anonymous = (more: readonly Header[] = []): readonly Header[] => [host, ...more]
