import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { cliOnMemory } from '../../../support/cli.ts'
import { registryIn, TOPIC } from '../../../support/registry-topic.ts'
import { temporaryFolder } from '../../../support/sluice-process.ts'

const KEY = 'k3y-0123456789-abcdefghijkl-ONE'
const FILE = `
teams:
  - { id: payments, name: Payments, apiKeys: ["${KEY}"] }
  - { id: billing }
events:
  - { identifier: order-placed, team: payments, name: Order placed }
steps:
  - { identifier: order-placed.validate, team: payments, event: order-placed, name: Validate }
  - { identifier: order-placed.charge, team: payments, event: order-placed, name: Charge }
  - { identifier: alone, team: payments }
projects:
  - { id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301, team: payments, name: Checkout API }
`

const folder = temporaryFolder()
afterAll(() => folder.remove())

function file(text: string | Uint8Array): string {
  const path = join(folder.path, 'registry.yaml')
  writeFileSync(path, text)
  return path
}

async function applied() {
  const cli = cliOnMemory()
  expect((await cli.run('registry', 'apply', file(FILE))).code).toBe(0)
  return cli
}

const newKey = (stdout: string): string => /sl_[\w-]{32}/.exec(stdout)?.[0] ?? ''

describe('registry apply', () => {
  test('says what it changed, and the second time that there is nothing to change', async () => {
    const { run } = cliOnMemory()
    expect(await run('registry', 'apply', file(FILE))).toEqual({
      code: 0,
      stderr: '',
      stdout: `  set team payments
  set team billing
  add key k3y-01… of team payments
  set event order-placed
  set step order-placed.validate
  set step order-placed.charge
  set step alone
  set project 3f2504e0-4f89-11d3-9a0c-0305e82c3301
8 changes made
`,
    })
    expect(await run('registry', 'apply', file(FILE))).toEqual({ code: 0, stdout: '0 changes made\n', stderr: '' })
  })

  test('--dry-run says the same and changes nothing', async () => {
    const cli = cliOnMemory()
    const { code, stdout } = await cli.run('registry', 'apply', file(FILE), '--dry-run')
    expect(code).toBe(0)
    expect(stdout).toMatch(/ {2}set team payments\n(.*\n)*8 changes to make\n$/)
    expect(cli.journal.recordsOf(TOPIC)).toEqual([])
  })

  test('--prune deletes what the file lacks', async () => {
    const cli = await applied()
    const { stdout } = await cli.run('registry', 'apply', '--prune', file('teams: [{ id: billing }]'))
    expect(stdout).toBe(`  delete step order-placed.validate
  delete step order-placed.charge
  delete step alone
  delete event order-placed
  delete project 3f2504e0-4f89-11d3-9a0c-0305e82c3301
  revoke key k3y-01… of team payments
  delete team payments
7 changes made
`)
    expect(
      registryIn(cli)
        .teams()
        .map(({ id }) => id),
    ).toEqual(['billing'])
  })

  test('a long list of changes is cut', async () => {
    const events = Array.from({ length: 60 }, (_, n) => ({ identifier: `e${n}`, team: 'a' }))
    const text = JSON.stringify({ teams: [{ id: 'a' }], events })
    expect((await cliOnMemory().run('registry', 'apply', file(text))).stdout).toMatch(
      /set event e48\n {2}and 11 more\n61 changes made\n$/,
    )
  })

  test('lists every problem with its line and changes nothing', async () => {
    const cli = cliOnMemory()
    const path = file('teams: [{ id: a, colour: red }]\nevents: [{ identifier: e, team: b }]')
    expect(await cli.run('registry', 'apply', path)).toEqual({
      code: 1,
      stdout: '',
      stderr: `sluice registry apply: ${path} has 2 problems; nothing was changed
  line 1: a Team has no field "colour"; it has id, name, apiKeys, defaultProject, limits
  line 2: there is no Team "b", neither in the file nor in the registry
`,
    })
    expect(cli.journal.recordsOf(TOPIC)).toEqual([])
  })

  test('tells notes', async () => {
    const { stdout } = await cliOnMemory().run('registry', 'apply', file('teams: [{ id: a, apiKeys: [secret] }]'))
    expect(stdout).toContain('note: Team "a": the key s… is too short')
    expect(stdout).not.toContain('secret')
  })

  test('a file that is not there, or not in UTF-8', async () => {
    const { run } = cliOnMemory()
    const absent = await run('registry', 'apply', join(folder.path, 'absent.yaml'))
    expect([absent.code, absent.stdout]).toEqual([1, ''])
    expect(absent.stderr).toMatch(/absent\.yaml cannot be read: ENOENT/)
    const latin = await run('registry', 'apply', file(Buffer.from('teams: [{ id: a, name: Caf\xe9 }]', 'latin1')))
    expect(latin.stderr).toContain('line 1: name was not decoded; save the file as UTF-8')
    const wide = await run('registry', 'apply', file(Buffer.from('﻿teams: [{ id: a }]', 'utf16le')))
    expect(wide.stderr).toContain('the file is not UTF-8 text, or is damaged; save it as UTF-8')
  })

  test('a journal that does not confirm: whether the change may have happened', async () => {
    const cli = cliOnMemory()
    cli.journal.failAppends('not_written', 1, 'sluice.registry.v1')
    expect((await cli.run('registry', 'apply', file(FILE))).stderr).toContain('and it was not written')
    cli.journal.failAppends('unknown', 1, 'sluice.registry.v1')
    expect((await cli.run('registry', 'apply', file(FILE))).stdout).toContain('changes made')
    cli.journal.failAppends('unknown', 1, 'sluice.registry.v1')
    const { code, stderr } = await cli.run('registry', 'rotate-key', 'payments')
    expect(code).toBe(1)
    expect(stderr).toContain('the journal did not confirm the change, and it may have been written all the same')
  })
})

describe('registry list', () => {
  test('shows each Team with what it owns', async () => {
    const { run } = await applied()
    expect(await run('registry', 'list')).toEqual({
      code: 0,
      stderr: '',
      stdout: `billing  billing
  no key

payments  Payments
  keys
    k3y-01…  since 2026-03-04T05:06:07.000Z  live
  event order-placed  Order placed
    1. order-placed.validate  Validate
    2. order-placed.charge    Charge
  step alone  alone
  project 3f2504e0-4f89-11d3-9a0c-0305e82c3301  Checkout API
`,
    })
  })

  test('marks what is archived, and apply says what it does to it', async () => {
    const { run } = await applied()
    const archive = file('events: [{ identifier: order-placed, team: payments, archived: true }]')
    expect((await run('registry', 'apply', archive)).stdout).toBe(
      '  set event order-placed (archived)\n1 change made\n',
    )
    const since = '(archived 2026-03-04T05:06:07.000Z)'
    const { stdout } = await run('registry', 'list')
    expect(stdout).toContain(
      `  event order-placed  Order placed  ${since}\n    1. order-placed.validate  Validate  ${since}\n`,
    )
    const named = file('events: [{ identifier: order-placed, team: payments, name: Renamed }]')
    expect((await run('registry', 'apply', named)).stdout).toContain(
      'note: the Event "order-placed" is archived and stays so; `archived: false` restores it',
    )
  })

  test('marks the Project for unknown services', async () => {
    const { run } = await applied()
    const id = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
    const named = file(`teams: [{ id: payments, defaultProject: ${id} }]`)
    expect((await run('registry', 'apply', named)).stdout).toBe('  set team payments\n1 change made\n')
    expect((await run('registry', 'list')).stdout).toContain(`project ${id}  Checkout API  (for unknown services)\n`)
    const none = file('teams: [{ id: payments, defaultProject: null }]')
    expect((await run('registry', 'apply', none)).stdout).toBe('  set team payments\n1 change made\n')
    expect((await run('registry', 'list')).stdout).not.toContain('unknown services')
  })

  test('shows the quota of a Team', async () => {
    const { run } = await applied()
    const limited = file('teams: [{ id: payments, limits: { burstSeconds: 60, entriesPerSecond: 500, shadow: true } }]')
    expect((await run('registry', 'apply', limited)).stdout).toBe('  set team payments\n1 change made\n')
    expect((await run('registry', 'list')).stdout).toContain(
      'payments  Payments\n  limits  entriesPerSecond 500, burstSeconds 60, shadow true\n',
    )
  })

  test('--json gives the same as one document, without hashes', async () => {
    const { run } = await applied()
    const { stdout } = await run('registry', 'list', '--json')
    expect(JSON.parse(stdout)).toEqual({
      teams: [
        {
          ...{ id: 'billing', name: 'billing', defaultProject: null, limits: null },
          ...{ keys: [], events: [], steps: [], projects: [] },
        },
        {
          id: 'payments',
          name: 'Payments',
          defaultProject: null,
          limits: null,
          keys: [{ prefix: 'k3y-01', createdAt: '2026-03-04T05:06:07.000Z', revokedAt: null }],
          events: [
            {
              identifier: 'order-placed',
              name: 'Order placed',
              archivedAt: null,
              steps: [
                { identifier: 'order-placed.validate', name: 'Validate', order: 1, archivedAt: null },
                { identifier: 'order-placed.charge', name: 'Charge', order: 2, archivedAt: null },
              ],
            },
          ],
          steps: [{ identifier: 'alone', name: 'alone', order: 1, archivedAt: null }],
          projects: [{ id: '3f2504e0-4f89-11d3-9a0c-0305e82c3301', name: 'Checkout API', archivedAt: null }],
        },
      ],
    })
  })

  test('says so where there is nothing', async () => {
    expect((await cliOnMemory().run('registry', 'list')).stdout).toMatch(/^The registry is empty/)
  })

  test('what a record holds cannot steer the terminal', async () => {
    const { run, journal } = cliOnMemory()
    const name = '\u001b[2J\u009b2Jgone\u202edne'
    const value = JSON.stringify({ name })
    await journal.append({ topic: TOPIC, partition: 0, records: [{ key: 'team/a', value, headers: {} }] })
    expect((await run('registry', 'list')).stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
    const { stdout } = await run('registry', 'list', '--json')
    expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
    expect(JSON.parse(stdout).teams[0].name).toBe(name)
  })
})

describe('registry rotate-key', () => {
  test('prints the new key once and leaves the old one live', async () => {
    const cli = await applied()
    const { code, stdout, stderr } = await cli.run('registry', 'rotate-key', 'payments')
    expect([code, stderr]).toEqual([0, ''])
    const key = newKey(stdout)
    expect(registryIn(cli).keyOpens('payments', key)).toBe(true)
    expect(registryIn(cli).keyOpens('payments', KEY)).toBe(true)
    expect((await cli.run('registry', 'list')).stdout).not.toContain(key)
  })

  test('refuses a third key', async () => {
    const { run } = await applied()
    await run('registry', 'rotate-key', 'payments')
    const { code, stdout, stderr } = await run('registry', 'rotate-key', 'payments')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('the Team has 2 live keys already')
  })

  test('--revoke-old ends the others', async () => {
    const cli = await applied()
    const { stdout } = await cli.run('registry', 'rotate-key', 'payments', '--revoke-old')
    expect(stdout).toContain('Revoked: k3y-01…')
    expect(registryIn(cli).keyOpens('payments', KEY)).toBe(false)
  })

  test('--key-file takes a key that is strong, and refuses one that is weak', async () => {
    const cli = await applied()
    const weak = await cli.run('registry', 'rotate-key', 'billing', '--key-file', file('hunter2\n'))
    expect(weak).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'sluice registry rotate-key: the key is too short for 128 bits of randomness, which take 22 letters and digits or 32 hexadecimal digits\n',
    })
    const strong = 'b1f0c2a4-7d7e-4a52-9a0c-0305e82c33ff'
    expect((await cli.run('registry', 'rotate-key', 'billing', '--key-file', file(`${strong}\n`))).code).toBe(0)
    expect(registryIn(cli).keyOpens('billing', strong)).toBe(true)
  })

  test('--json is for programs', async () => {
    const { run } = await applied()
    const { stdout } = await run('registry', 'rotate-key', 'payments', '--revoke-old', '--json')
    expect(JSON.parse(stdout)).toEqual({ team: 'payments', key: newKey(stdout), revoked: ['k3y-01'] })
  })

  test.each([[], ['--json']])('makes no key and ends none where it cannot be shown %s', async (...options) => {
    const cli = await applied()
    const full = { write: (_text: string, done?: (error: Error) => void) => done?.(new Error('no space left')) }
    const ran = await cli.runWith({ stdout: full }, 'registry', 'rotate-key', 'payments', '--revoke-old', ...options)
    const stderr = 'sluice registry rotate-key: no key was made, as it could not be shown: no space left\n'
    expect([ran.code, ran.stderr]).toEqual([1, stderr])
    expect((await cli.run('registry', 'list', '--json')).stdout.match(/"revokedAt": null/g)).toHaveLength(1)
    expect(registryIn(cli).keyOpens('payments', KEY)).toBe(true)
  })

  test('refuses a Team that is not there', async () => {
    const { run } = cliOnMemory()
    expect(await run('registry', 'rotate-key', 'nobody')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'sluice registry rotate-key: there is no Team "nobody"; `registry list` shows all\n',
    })
  })
})

describe('registry revoke-key', () => {
  test('ends a key, says how many are left, and may be repeated', async () => {
    const cli = await applied()
    expect(await cli.run('registry', 'revoke-key', 'payments', 'k3y')).toEqual({
      code: 0,
      stdout:
        'The key k3y-01… of payments is revoked; the Team has no live key now, make one with `sluice registry rotate-key payments`\n',
      stderr: '',
    })
    expect(registryIn(cli).keyOpens('payments', KEY)).toBe(false)
    const again = await cli.run('registry', 'revoke-key', 'payments', 'k3y')
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('was revoked before')])
    expect((await cli.run('registry', 'list')).stdout).toMatch(/k3y-01… {2}since .* revoked 2026-03-04T/)
  })

  test('a key that begins with a dash can be named after --', async () => {
    const cli = cliOnMemory()
    await cli.run('registry', 'apply', file('teams: [{ id: a, apiKeys: ["-dash-key-aaaaaaaaaaaaaaaaaaaaaaaa"] }]'))
    const { code, stdout } = await cli.run('registry', 'revoke-key', 'a', '--', '-dash')
    expect([code, stdout]).toEqual([0, expect.stringContaining('is revoked')])
  })

  test('refuses a prefix that no key has', async () => {
    const { run } = await applied()
    const { code, stderr } = await run('registry', 'revoke-key', 'payments', 'zzz')
    expect(code).toBe(1)
    expect(stderr).toContain('live are: k3y-01… of 2026-03-04')
  })
})

describe('registry export and restore', () => {
  const exported = async () => {
    const path = join(folder.path, 'backup.ndjson')
    const { run } = await applied()
    await run('registry', 'revoke-key', 'payments', 'k3y-01')
    return { path, ...(await run('registry', 'export', path)) }
  }

  test('a file for its owner alone takes the place of the one before', async () => {
    const path = join(folder.path, 'backup.ndjson')
    writeFileSync(path, 'old', { mode: 0o644 })
    expect(await exported()).toMatchObject({ code: 0, stdout: `${path} has the whole registry\n`, stderr: '' })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).not.toContain(KEY)
    expect(readdirSync(folder.path).filter((name) => name.includes('.tmp'))).toEqual([])
  })

  test('a place that cannot be written to, and an empty registry, leave everything as it was', async () => {
    const cli = await applied()
    const failed = await cli.run('registry', 'export', join(folder.path, 'no-such-folder', 'backup'))
    expect([failed.code, failed.stdout]).toEqual([1, ''])
    expect(failed.stderr).toContain('cannot be written: ENOENT')
    const path = join(folder.path, 'kept.ndjson')
    writeFileSync(path, 'kept')
    const empty = await cliOnMemory().run('registry', 'export', path)
    expect(empty).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the registry is empty, so nothing was written'),
    })
    expect(readFileSync(path, 'utf8')).toBe('kept')
  })

  test.skipIf(process.platform === 'win32')('what is no file is not replaced by one, and a link stays', async () => {
    const { run } = await applied()
    const [device, link] = [join(folder.path, 'device'), join(folder.path, 'link')]
    symlinkSync('/dev/null', device)
    symlinkSync(file(''), link)
    expect(await run('registry', 'export', device)).toMatchObject({
      code: 1,
      stderr: `sluice registry export: ${device} is no file; - stands for standard output\n`,
    })
    expect((await run('registry', 'export', link)).code).toBe(0)
    expect([device, link].every((path) => lstatSync(path).isSymbolicLink())).toBe(true)
    expect(readFileSync(link, 'utf8')).toContain('payments')
  })

  test('a lost registry is restored, and the second time there is nothing to change', async () => {
    const { path } = await exported()
    const cli = cliOnMemory()
    expect(await cli.run('registry', 'restore', path, '--dry-run')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/8 changes to make\n$/),
    })
    expect(cli.journal.recordsOf(TOPIC)).toEqual([])
    expect((await cli.run('registry', 'restore', path)).stdout).toContain('  revoke key k3y-01… of team payments\n')
    expect(registryIn(cli).keyOpens('payments', KEY)).toBe(false)
    expect(await cli.run('registry', 'restore', path)).toEqual({ code: 0, stdout: '0 changes made\n', stderr: '' })
  })

  test('- stands for standard output', async () => {
    const { stdout } = await (await applied()).run('registry', 'export', '-')
    const path = join(folder.path, 'from-stdout.ndjson')
    writeFileSync(path, stdout)
    expect((await cliOnMemory().run('registry', 'restore', path)).stdout).toContain('8 changes made')
  })

  test('a file that is cut off changes nothing', async () => {
    const { path } = await exported()
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.subarray(0, bytes.length - 40))
    const cli = cliOnMemory()
    expect(await cli.run('registry', 'restore', path)).toEqual({
      code: 1,
      stdout: '',
      stderr: `sluice registry restore: ${path} has 1 problem; nothing was changed
  the file is cut off: its last line is not the checksum
`,
    })
    expect(cli.journal.recordsOf(TOPIC)).toEqual([])
  })
})
