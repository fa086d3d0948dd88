import { editDistance } from '../shared/nearest.ts'
import type { Environment } from '../shared/runtime/config.ts'
import { SETTINGS } from '../shared/runtime/config-schema.ts'

/** Shorter names are those of too many other programs. */
const MISTYPED_MIN = 8
const SLIPS_MAX = 2

/**
 * Variables that may be meant as a setting that is not set, as `KAFKA_BROKER`. They are not refused, since they may be another program's.
 */
export function mistypedNames(env: Environment): readonly { readonly name: string; readonly meant: string }[] {
  const names = Object.keys(SETTINGS)
  const known = new Set(names.flatMap((setting) => [setting, `${setting}_FILE`]))
  const unset = names.filter((setting) => !env[setting] && !env[`${setting}_FILE`])
  return Object.keys(env)
    .filter((name) => name.length >= MISTYPED_MIN && env[name] !== '' && !known.has(name))
    .flatMap((name) => {
      const upper = name.toUpperCase()
      // Slips are rare in a first letter: the BASE_URL of our own documentation is no PAGE_URL.
      const alike = unset.filter((setting) => setting[0] === upper[0])
      const meant = alike.find((setting) => editDistance(upper, setting, SLIPS_MAX) <= SLIPS_MAX)
      return meant === undefined ? [] : [{ name, meant }]
    })
}
