import { describeConfig } from '../../shared/runtime/config.ts'
import { type Command, EXIT, UsageError } from './command.ts'
import { settingsTable } from './tables.ts'
import { columns } from './text.ts'

export const configCommands: readonly Command[] = [
  {
    name: 'config print',
    summary: 'Show every setting with its value in this environment',
    description: ['Secrets are masked. If settings are wrong, all problems are listed.'],
    parameters: [],
    options: {
      json: { help: 'Print one JSON document: value, default and help of each setting.' },
      markdown: { help: 'Print the table of docs/operations.md, which does not depend on the environment.' },
    },
    examples: ['sluice config print', 'PORT=9000 sluice config print --json'],
    run: async (call, { stdout, config }) => {
      if (call.flag('json') && call.flag('markdown')) throw new UsageError('--json and --markdown exclude each other')
      if (call.flag('markdown')) {
        stdout.write(`${settingsTable()}\n`)
        return EXIT.ok
      }
      const settings = describeConfig(config())
      if (call.flag('json')) {
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
