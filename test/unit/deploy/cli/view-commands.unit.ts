import { describe, expect, test } from 'vitest'
import { CommandError } from '../../../../deploy/cli/command.ts'
import { cliOnMemory } from '../../../support/cli.ts'

describe('views rebuild', () => {
  test('passes on what it was asked for, and prints each step', async () => {
    const { run, calls } = cliOnMemory()
    const { code, stdout } = await run('views', 'rebuild', 'event-logs', '--from', 'indices', '--take-over')
    expect([code, stdout]).toEqual([0, 'the view was rebuilt\n'])
    const request = { view: 'event-logs', from: 'indices', since: null, takeOver: true }
    expect(calls).toContainEqual(['rebuildView', request])
  })

  test.each([
    [[], 'VIEW is missing'],
    [['logs', '--from', 'topics'], 'VIEW is one of event-logs, application-logs, flows, not "logs"'],
    [['flows'], '--from is missing: indices or topics'],
    [['flows', '--from', 'kafka'], '--from is one of indices, topics, not "kafka"'],
    [['flows', '--from', 'topics', '--since', '31.1.2026'], '--since is a day such as 2026-01-31, not "31.1.2026"'],
    [['flows', '--from', 'topics', '--since', '2026-02-30'], '--since is a day such as 2026-01-31, not "2026-02-30"'],
    [['flows', '--from', 'topics', '--take-over'], '--take-over goes with --from indices'],
  ])('refuses %j and names what to change', async (words, reason) => {
    const { run, calls } = cliOnMemory()
    const { code, stderr } = await run('views', 'rebuild', ...words)
    expect([code, stderr, calls]).toEqual([2, expect.stringContaining(reason), []])
  })

  test('fails with the reason, and is not audited where it was refused', async () => {
    const { handlers } = cliOnMemory()
    const rebuildView = async () => {
      throw new CommandError('a shard is missing')
    }
    const { run } = cliOnMemory({ handlers: { ...handlers, rebuildView } })
    const { code, stderr } = await run('views', 'rebuild', 'flows', '--from', 'indices')
    expect([code, stderr]).toEqual([1, 'sluice views rebuild: a shard is missing\n'])
    expect((await run('audit')).stdout).toBe('')
  })
})
