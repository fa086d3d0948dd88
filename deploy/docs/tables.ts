import { ALIASES, type Alias, ERRORS as ERROR_OBJECTS, nameOf } from '../../gateway/json-logs/aliases.ts'
import { ERRORS } from '../../shared/contract/errors.ts'
import { SETTINGS, type SettingName } from '../../shared/runtime/config-schema.ts'
import { METRICS } from '../../shared/runtime/metrics.ts'
import { readFigures } from '../capacity/figures.ts'
import { PLAN_ROWS, planFor, USUAL_LOAD } from '../capacity/plan.ts'
import { code, markdownTable } from '../cli/text.ts'
import { LIMITS } from './limits.ts'

/** The metrics as Markdown. */
export const metricsTable = (): string =>
  markdownTable(
    ['metric', 'kind', 'labels', 'meaning'],
    Object.entries<{ kind: string; help: string; labels: readonly string[] }>(METRICS).map(
      ([name, { kind, help, labels }]) => [code(name), kind, labels.map(code).join(', '), help],
    ),
  )

/** The error codes as Markdown. */
export const errorsTable = (): string =>
  markdownTable(
    ['code', 'status', 'retry', 'message', 'what to change'],
    Object.entries(ERRORS).map(([name, { status, retryable, message, remedy }]) => [
      code(name),
      String(status),
      retryable ? 'yes' : 'no',
      message,
      remedy,
    ]),
  )

/** The limits that a client can meet, as Markdown. */
export const limitsTable = (): string =>
  markdownTable(
    ['limit of', 'is', 'beyond'],
    LIMITS.map(([of, is, beyond]) => [of, limitText(is), beyond]),
  )

/** The value of a limit, with the default if it is a setting. */
const limitText = (is: string): string =>
  is in SETTINGS ? `${code(is)} (${Number(SETTINGS[is as SettingName].default).toLocaleString('en')})` : is

/** The names that fields have in the JSON of other loggers, as Markdown. */
export const aliasesTable = (): string =>
  markdownTable(
    ['field', 'is the first of'],
    [
      ...Object.entries<readonly Alias[]>(ALIASES).map(([field, aliases]) => [
        code(field),
        [...new Set(aliases.map(shownAlias))].join(', '),
      ]),
      [code('<error>'), ERROR_OBJECTS.map(code).join(', ')],
    ],
  )

function shownAlias(alias: Alias): string {
  const name = nameOf(alias)
  const error = ERROR_OBJECTS.find((outer) => name.startsWith(`${outer}.`))
  const shown = code(error === undefined ? name : `<error>${name.slice(error.length)}`)
  return typeof alias === 'string' ? shown : `${shown} beside ${alias.beside.map(code).join(' or ')}`
}

const RATES = [10_000, 100_000, 1_000_000]

/** The plans for three loads, as Markdown. */
export function capacityTable(): string {
  const figures = readFigures()
  const plans = RATES.map((entriesPerSecond) => planFor({ ...USUAL_LOAD, entriesPerSecond }, figures))
  return markdownTable(
    ['entries a second', ...RATES.map((rate) => rate.toLocaleString('en-US'))],
    [
      ...PLAN_ROWS.map(([name, text]) => [name, ...plans.map(text)]),
      ['limits that are crossed', ...plans.map(({ walls }) => walls.join('; ') || 'none')],
    ],
  )
}
