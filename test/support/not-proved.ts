import { test } from 'vitest'

/**
 * Reports a suite or test that cannot run here: as skipped, with a line that says what was not proved, or as failed if it is required.
 * `lacks` names the kind of thing that this machine lacks.
 */
export function notProved(name: string, missing: string, required: boolean, lacks?: string): void {
  const reason = `NOT PROVED${lacks === undefined ? '' : `, ${lacks}`}: ${name} (${missing})`
  if (!required) process.stderr.write(`\n${reason}\n`)
  test(name, ({ skip }) => {
    if (required) throw new Error(reason)
    skip(missing)
  })
}

/** Whether suites whose servers or programs are missing have to fail, as in CI. */
export const REQUIRED = process.env['REQUIRE_BACKENDS'] === '1'
