import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../../../../deploy/cli/cli.ts'
import { cliOnMemory } from '../../../support/cli.ts'

const { run } = cliOnMemory()

describe('help', () => {
  test.each([['help'], ['--help'], ['-h']])('`sluice %s` lists every command on standard output', async (word) => {
    const { code, stdout, stderr } = await run(word)
    expect([code, stderr]).toEqual([0, ''])
    for (const { name, summary } of COMMANDS) {
      expect(stdout).toContain(name)
      expect(stdout).toContain(summary)
    }
  })

  test('the commands are those of the design, and start', () => {
    expect(COMMANDS.map(({ name }) => name)).toEqual([
      'start',
      'topics apply',
      'indices apply',
      'counts rebuild',
      'canary',
      'registry apply',
      'registry list',
      'registry rotate-key',
      'registry revoke-key',
      'registry export',
      'registry restore',
      'dead-letters list',
      'dead-letters replay',
      'views rebuild',
      'audit',
      'config print',
    ])
  })

  test.each(COMMANDS.map(({ name }) => [name]))(
    '`%s --help` has usage, options, examples and exit codes',
    async (name) => {
      const page = await run(...name.split(' '), '--help')
      expect([page.code, page.stderr]).toEqual([0, ''])
      for (const part of [
        `Usage: sluice ${name}`,
        'Options:',
        '-h, --help',
        'Examples:',
        'Exit codes: 0 done, 1 failed',
      ]) {
        expect(page.stdout).toContain(part)
      }
      for (const option of Object.keys(COMMANDS.find((command) => command.name === name)?.options ?? {})) {
        expect(page.stdout).toContain(`--${option}`)
      }
      expect(await run('help', ...name.split(' '))).toEqual(page)
      expect(await run(...name.split(' '), '-h')).toEqual(page)
      expect(Math.max(...page.stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(130)
    },
  )

  test('start names its roles', async () => {
    expect((await run('start', '--help')).stdout).toMatch(/--role ROLE .*all, gateway, consumers, views, watches/)
  })

  test('the page of a group lists its commands', async () => {
    const { code, stdout } = await run('registry', '--help')
    expect(code).toBe(0)
    expect(stdout).toContain('registry rotate-key TEAM')
    expect(stdout).not.toContain('dead-letters')
  })

  test('help works whatever the configuration', async () => {
    const broken = cliOnMemory({ env: { PORT: 'x' } })
    expect((await broken.run('registry', 'apply', '--help')).code).toBe(0)
    expect((await broken.run('--version')).code).toBe(0)
  })
})

test('--version prints the version', async () => {
  expect(await run('--version')).toEqual({ code: 0, stdout: '1.2.3\n', stderr: '' })
  expect(await run('-v')).toEqual({ code: 0, stdout: '1.2.3\n', stderr: '' })
})

describe('a command line that is wrong exits with 2 and says on standard error what to change', () => {
  test.each<[string[], string]>([
    [['regisrty', 'apply', 'f'], 'there is no command `regisrty`; did you mean `sluice registry apply`?'],
    [['registry', 'aply', 'f'], 'there is no command `registry aply`; did you mean `sluice registry apply`?'],
    [['registry', 'rotate', 'a'], 'there is no command `registry rotate`; did you mean `sluice registry rotate-key`?'],
    [['strat'], 'there is no command `strat`; did you mean `sluice start`?'],
    [['dead-leters'], 'there is no command `dead-leters`; did you mean `sluice dead-letters`?'],
    [['frobnicate'], 'there is no command `frobnicate`\n'],
    [['help', 'frobnicate'], 'there is no command `frobnicate`\n'],
    [['registry', 'apply', 'f', '--prun'], 'there is no option --prun; did you mean --prune?'],
    [['registry', 'apply', 'f', '--dryrun'], 'there is no option --dryrun; did you mean --dry-run?'],
    [['registry', 'apply', 'f', '-p'], 'there is no option -p'],
    [['registry', 'list', '--constructor'], 'there is no option --constructor\n'],
    [['registry', 'apply'], 'FILE is missing: a registry file (YAML)'],
    [['registry', 'revoke-key', 'payments'], 'PREFIX is missing'],
    [['registry', 'revoke-key', 'payments', ''], 'PREFIX is empty'],
    [['registry', 'list', 'payments'], 'there is one argument too many: "payments"'],
    [['registry', 'apply', 'f', '--prune=yes'], '--prune takes no value'],
    [['registry', 'apply', 'f', '--prune', '--prune'], '--prune is given twice'],
    [['start', '--role'], '--role needs a value: --role ROLE'],
    [['start', '--role', '--help2'], '--role needs a value'],
    [['start', '--role='], '--role needs a value'],
    [
      ['start', '--role', 'gatway'],
      '--role is one of all, gateway, consumers, views, watches, not "gatway"; did you mean gateway?',
    ],
    [['config', 'print', '--json', '--markdown'], '--json and --markdown exclude each other'],
  ])('%j', async (argv, message) => {
    const { code, stdout, stderr } = await run(...argv)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect(stderr).toContain('`sluice ')
    expect(stderr).not.toContain('    at ')
  })

  test.each([[[]], [['registry']], [['dead-letters']]])(
    'no command, or half of one, gets the overview: %j',
    async (argv) => {
      const { code, stdout, stderr } = await run(...argv)
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toContain('Commands:')
    },
  )
})

describe('a command that fails exits with 1 and says why on standard error, without a stack', () => {
  test('a configuration with problems: all of them', async () => {
    const broken = cliOnMemory({ env: { PORT: 'x', LOG_LEVEL: 'loud' } })
    for (const argv of [['config', 'print'], ['registry', 'list'], ['start'], ['topics', 'apply']]) {
      const { code, stdout, stderr } = await broken.run(...argv)
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/PORT must be.*\n.*LOG_LEVEL must be/)
      expect(stderr).not.toContain('    at ')
    }
  })

  test('a journal that cannot be opened', async () => {
    const openJournal = async () => {
      throw new Error('connect ECONNREFUSED 127.0.0.1:9092')
    }
    const { code, stderr } = await cliOnMemory({ openJournal }).run('registry', 'list')
    expect([code, stderr]).toEqual([1, 'sluice registry list: connect ECONNREFUSED 127.0.0.1:9092\n'])
  })

  test('a topic that is missing, with what to do', async () => {
    const { code, stderr } = await cliOnMemory({ env: { TOPIC_PREFIX: 'other' } }).run('registry', 'list')
    expect(code).toBe(1)
    expect(stderr).toContain('the topic other.registry.v1 does not exist: check TOPIC_PREFIX; `sluice topics apply`')
  })

  test('a fault of the program itself shows where', async () => {
    const openJournal = () => Promise.reject(new TypeError('undefined is not a function'))
    const { code, stderr } = await cliOnMemory({ openJournal }).run('registry', 'list')
    expect(code).toBe(1)
    expect(stderr).toMatch(/unexpected error: TypeError: undefined is not a function\n {4}at /)
  })
})

test('the journal is closed, whether a command succeeds or fails', async () => {
  const { run, calls } = cliOnMemory()
  await run('registry', 'list')
  await run('registry', 'rotate-key', 'nobody')
  await run('dead-letters', 'list')
  await run('dead-letters', 'replay')
  expect(calls).toEqual(Array(4).fill(['close']))
})

test('start hands its role to the server and gives its exit code back', async () => {
  const { run, calls } = cliOnMemory()
  expect((await run('start')).code).toBe(7)
  expect((await run('start', '--role', 'gateway')).code).toBe(7)
  expect((await run('start', '--role=views')).code).toBe(7)
  expect(calls).toEqual([
    ['start', 'all'],
    ['start', 'gateway'],
    ['start', 'views'],
  ])
})

test('topics apply, indices apply and counts rebuild print what became of each', async () => {
  expect(await run('counts', 'rebuild')).toEqual({ code: 0, stdout: '3 entries were counted\n', stderr: '' })
  expect(await run('topics', 'apply')).toEqual({ code: 0, stdout: 'sluice.registry.v1 exists\n', stderr: '' })
  expect(await run('indices', 'apply')).toEqual({ code: 0, stdout: 'sluice-flows-v1 made\n', stderr: '' })
})
