import type { Command, Option } from './command.ts'

/** The page of one command: usage, options, examples, exit codes. */
export function commandHelp(command: Command): string {
  const { summary, description, parameters = [], options = {}, examples } = command
  const sections = [
    `${summary}.`,
    `Usage: ${usage(command)}`,
    description.join('\n'),
    table(
      'Arguments:',
      parameters.map(({ name, help }) => [name, help]),
    ),
    table('Options:', [...Object.entries(options).map(optionRow), ['-h, --help', 'Show this page.']]),
    ['Examples:', ...examples.map((example) => `  ${example}`)].join('\n'),
    'Exit codes: 0 done, 1 failed (standard error says why), 2 the command line is wrong, 130 ended at once by a signal.',
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

/** The overview of all commands, or of those whose name begins with the words. */
export function overview(commands: readonly Command[], words = ''): string {
  const listed = commands.filter(({ name }) => words === '' || name.startsWith(`${words} `))
  const sections = [
    words === '' ? 'Sluice takes in logs over HTTP, keeps them in a journal and shows them.' : '',
    `Usage: sluice ${words === '' ? 'COMMAND' : `${words} COMMAND`} [OPTIONS]`,
    table(
      'Commands:',
      listed.map((command) => [
        usage(command)
          .replace(/^sluice /, '')
          .replace(' [OPTIONS]', ''),
        `${command.summary}.`,
      ]),
    ),
    words === ''
      ? table('Options:', [
          ['-h, --help', 'Show this page.'],
          ['-v, --version', 'Show the version.'],
        ])
      : '',
    [
      `\`sluice help COMMAND\` or \`sluice COMMAND --help\` describes a command.`,
      'From a checkout, `npm run sluice -- COMMAND` runs it. Settings come from the environment: `sluice config print`.',
    ].join('\n'),
  ]
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`
}

function usage({ name, parameters = [] }: Command): string {
  return ['sluice', name, ...parameters.map((parameter) => parameter.name), '[OPTIONS]'].join(' ')
}

const optionRow = ([name, { value, help }]: [string, Option]): readonly [string, string] => [
  value === undefined ? `--${name}` : `--${name} ${value}`,
  help,
]

/** Two aligned columns under a heading; empty if there are no rows. */
function table(heading: string, rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return ''
  const width = Math.max(...rows.map(([left]) => left.length))
  return [heading, ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)].join('\n')
}
