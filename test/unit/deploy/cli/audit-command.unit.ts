import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { timestampOf } from '../../../../shared/contract/timestamp.ts'
import { createAudit } from '../../../../shared/journal/audit.ts'
import { cliOnMemory } from '../../../support/cli.ts'

const TOPIC = 'sluice.audit.v1'
const NOW = Date.parse('2026-03-04T05:06:07.000Z')
const HOUR_MS = 3_600_000

/** A journal in which Teams have each renamed an Event, one an hour, the last one now. */
async function withChanges(...teams: string[]) {
  const cli = cliOnMemory()
  for (const [place, team] of teams.entries()) {
    const clock = { now: () => NOW - (teams.length - 1 - place) * HOUR_MS }
    const audit = createAudit({ journal: cli.journal, topic: TOPIC, clock, onFailure: () => undefined })
    const audited = audit({ actor: { kind: 'team', id: team, key: null }, via: 'a test', from: null })
    const subject = { kind: 'event', id: `of-${team}` } as const
    await audited([{ team, action: 'changed', subject, before: {}, after: {} }], async () => {})
  }
  return cli
}

const linesOf = (stdout: string) =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

describe('audit', () => {
  test.each<[string[], string[]]>([
    [[], ['a', 'b', 'a']],
    [['--team', 'b'], ['b']],
    [
      ['--since', 'now-1h'],
      ['b', 'a'],
    ],
    [['--since', timestampOf(NOW), '--team', 'b'], []],
    [
      ['--until', 'now'],
      ['a', 'b'],
    ],
  ])('with %j prints a line for each change that fits, oldest first', async (options, teams) => {
    const { run } = await withChanges('a', 'b', 'a')
    const { code, stdout } = await run('audit', ...options)
    expect([code, linesOf(stdout).map(({ team }) => team)]).toEqual([0, teams])
  })

  test('tells that records cannot be read, after the others', async () => {
    const { journal, run } = await withChanges('a', 'b')
    await journal.append({ topic: TOPIC, partition: 0, records: [{ key: null, value: 'damaged', headers: {} }] })
    const { code, stdout, stderr } = await run('audit', '--team', 'b')
    expect([code, linesOf(stdout).map(({ team }) => team)]).toEqual([1, ['b']])
    expect(stderr).toContain(`1 record of ${TOPIC} cannot be read`)
  })

  test('refuses what is no time', async () => {
    const { code, stderr } = await cliOnMemory().run('audit', '--since', 'yesterday')
    expect([code, stderr]).toEqual([2, expect.stringContaining('--since is a time such as')])
  })
})

describe('a command that changes something', () => {
  test('is told with its user and machine, and what it changed', async () => {
    const { run } = cliOnMemory()
    await run('registry', 'apply', 'deploy/compose/registry.yaml')
    const { stdout } = await run('audit')
    const [first] = linesOf(stdout)
    expect(first).toMatchObject({
      actor: { kind: 'operator', id: expect.any(String), key: null },
      via: 'registry apply',
      from: hostname(),
      action: 'created',
      subject: { kind: 'team' },
      outcome: 'success',
    })
  })

  test('is told as a replay of dead letters, with its filters and its outcome', async () => {
    const { run, journal } = cliOnMemory()
    const headers = { 'x-dlq-view': 'flows' }
    await journal.append({
      topic: 'sluice.dead-letters.v1',
      partition: 0,
      records: [{ key: null, value: '{}', headers }],
    })
    await run('dead-letters', 'replay', '--view', 'flows')
    const subject = { kind: 'dead-letters', id: 'sluice.dead-letters.v1' }
    expect(linesOf((await run('audit')).stdout)).toMatchObject([
      {
        via: 'dead-letters replay',
        team: null,
        action: 'replayed',
        subject,
        after: { view: 'flows' },
        outcome: 'success',
      },
    ])
  })

  test('is told as a rebuild of a view', async () => {
    const { run } = cliOnMemory()
    await run('views', 'rebuild', 'flows', '--from', 'topics', '--since', '2026-01-31')
    const subject = { kind: 'view', id: 'flows' }
    const after = { from: 'topics', since: '2026-01-31' }
    expect(linesOf((await run('audit')).stdout)).toMatchObject([
      { action: 'rebuilt', subject, after, outcome: 'success' },
    ])
  })

  test('fails and changes nothing where the journal takes no audit record', async () => {
    const { run, journal } = cliOnMemory()
    journal.failAppends('unknown')
    const { code, stderr } = await run('registry', 'apply', 'deploy/compose/registry.yaml')
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('did not confirm the change, and it was not written: its audit record was not confirmed'),
    ])
    expect(journal.recordsOf('sluice.registry.v1')).toEqual([])
  })

  test('says so where only the outcome could not be told', async () => {
    const { run, journal } = cliOnMemory({
      openJournal: async () => {
        let appends = 0
        return {
          ...journal,
          append: async (batch) => {
            appends += 1
            if (appends === 3) journal.failAppends('not_written')
            await journal.append(batch)
          },
          close: async () => {},
        }
      },
    })
    const { code, stderr } = await run('registry', 'apply', 'deploy/compose/registry.yaml')
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^sluice registry apply: the audit does not tell the outcome: /),
    ])
    expect(linesOf((await run('audit')).stdout)[0]).toMatchObject({ outcome: 'pending' })
  })
})
