import { describeConfig } from '../../shared/runtime/config.ts'
import { SETTINGS, type Setting } from '../../shared/runtime/config-schema.ts'
import { type Command, EXIT, UsageError } from './command.ts'
import { code, columns, markdownTable } from './text.ts'

export const configCommands: readonly Command[] = [
  {
    name: 'config print',
    summary: 'Show every setting with its value in this environment',
    description: ['Secrets are masked. If settings are wrong, all problems are listed.'],
    options: {
      json: { help: 'Print one JSON document: value, default and help of each setting.' },
      markdown: { help: 'Print the table of docs/operations.md, which does not depend on the environment.' },
    },
    examples: ['sluice config print', 'PORT=9000 sluice config print --json'],
    run: async (args, { stdout, config }) => {
      if (args.flag('json') && args.flag('markdown')) throw new UsageError('--json and --markdown exclude each other')
      if (args.flag('markdown')) {
        stdout.write(`${settingsTable()}\n`)
        return EXIT.ok
      }
      const settings = describeConfig(config())
      if (args.flag('json')) {
        const byName = Object.fromEntries(settings.map(({ name, ...rest }) => [name, rest]))
        stdout.write(`${JSON.stringify(byName, null, 2)}\n`)
        return EXIT.ok
      }
      const rows = settings.map((setting) => [
        setting.name,
        setting.value === '' ? '(unset)' : setting.value,
        setting.value === setting.default ? '' : `default: ${setting.default === '' ? '(unset)' : setting.default}`,
      ])
      stdout.write(`${columns(rows).join('\n')}\n`)
      return EXIT.ok
    },
  },
]

/** The settings as Markdown. */
export const settingsTable = (): string =>
  markdownTable(
    ['setting', 'values', 'default', 'meaning'],
    Object.entries<Setting>(SETTINGS).map(([name, setting]) => [
      code(name),
      valuesOf(setting),
      setting.default === null ? '(unset)' : code(String(setting.default)),
      setting.secret ? `${setting.help} Secret: may be given as ${code(`${name}_FILE`)}.` : setting.help,
    ]),
  )

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
