import { ALIASES, type Alias, ERRORS as ERROR_OBJECTS, nameOf } from '../../gateway/json-logs/aliases.ts'
import { ERRORS } from '../../shared/contract/errors.ts'
import { STATUS } from '../../shared/http/status.ts'
import { SETTINGS, type Setting } from '../../shared/runtime/config-schema.ts'
import { METRICS } from '../../shared/runtime/metrics.ts'
import { capacityRows } from '../capacity/rows.ts'
import { LIMITS, shownValue } from './limits.ts'

/** The settings as Markdown. */
export const settingsTable = (): string =>
  table(
    ['setting', 'values', 'default', 'meaning'],
    Object.entries<Setting>(SETTINGS).map(([name, setting]) => [
      code(name),
      valuesOf(setting),
      setting.default === null ? '(unset)' : code(String(setting.default)),
      setting.secret ? `${setting.help} Secret: may be given as ${code(`${name}_FILE`)}.` : setting.help,
    ]),
  )

/** The metrics as Markdown. */
export const metricsTable = (): string =>
  table(
    ['metric', 'kind', 'labels', 'meaning'],
    Object.entries<{ kind: string; help: string; labels?: readonly string[] }>(METRICS).map(
      ([name, { kind, help, labels = [] }]) => [code(name), kind, labels.map(code).join(', '), help],
    ),
  )

/** The error codes as Markdown. */
export const errorsTable = (): string =>
  table(
    ['code', 'status', 'retry', 'message', 'what to change'],
    Object.entries(ERRORS).map(([name, { retryable, message, remedy }]) => [
      code(name),
      String(STATUS[name as keyof typeof ERRORS]),
      retryable ? 'yes' : 'no',
      message,
      remedy,
    ]),
  )

/** The limits that a client can meet, as Markdown. */
const limitsTable = (): string =>
  table(
    ['limit of', 'is', 'beyond'],
    LIMITS.map((limit) => [limit.of, shownValue(limit), limit.beyond]),
  )

/** The names that fields have in the JSON of other loggers, as Markdown. */
const aliasesTable = (): string =>
  table(
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

/** The plans for three loads, as Markdown. */
function capacityTable(): string {
  const [head = [], ...rows] = capacityRows()
  return table(head, rows)
}

/** The places of the tables in the documentation; `npm run docs` writes them, and a test compares them. */
export const DOCUMENTED_TABLES = [
  { document: 'docs/operations.md', name: 'settings', table: settingsTable },
  { document: 'docs/operations.md', name: 'metrics', table: metricsTable },
  { document: 'docs/errors.md', name: 'errors', table: errorsTable },
  { document: 'docs/security.md', name: 'limits', table: limitsTable },
  { document: 'docs/http.md', name: 'names', table: aliasesTable },
  { document: 'docs/capacity.md', name: 'plans', table: capacityTable },
] as const

/** The document with the table between its markers `<!-- name -->` and `<!-- /name -->`. Throws if a marker is missing. */
export function withTable(document: string, name: string, content: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const start = document.indexOf(open)
  const end = document.indexOf(close)
  if (start < 0 || end < start) throw new Error(`the document has no place between ${open} and ${close}`)
  return `${document.slice(0, start + open.length)}\n${content}\n${document.slice(end)}`
}

function valuesOf(setting: Setting): string {
  switch (setting.type) {
    case 'integer':
      return setting.maximum === Number.MAX_SAFE_INTEGER
        ? `${setting.minimum} or more`
        : `${setting.minimum} to ${setting.maximum}`
    case 'flag':
      return 'true, false'
    case 'choice':
      return setting.choices.join(', ')
    case 'list':
      return 'a list, separated by commas'
    case 'url':
      return 'an http or https URL'
    case 'text':
      return 'text'
  }
}

const code = (text: string): string => `\`${text}\``

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}
