import { describe, expect, test } from 'vitest'
import { type DeadLetterReason, deadLetter, deadLetterRecord } from '../../../../consumers/dead-letters.ts'
import { cliOnMemory } from '../../../support/cli.ts'

const NOW = '2026-03-04T12:00:00.000Z'

const letter = (id: string, reason: DeadLetterReason, { view = 'event-logs', at = NOW, attempt = 1 } = {}) =>
  deadLetterRecord(
    {
      topic: 'sluice.event-logs.v1',
      partition: 3,
      offset: 41,
      appendedAt: 0,
      key: null,
      value: Buffer.from(`value of ${id}`),
      headers: { ce_id: id, 'x-dlq-attempt': String(attempt - 1) },
    },
    deadLetter(reason, 'what is wrong'),
    { projection: view, group: 'g', time: at },
  )

async function withLetters(...records: ReturnType<typeof letter>[]) {
  const cli = cliOnMemory({ now: NOW })
  await cli.journal.append({ topic: 'sluice.dead-letters.v1', partition: 0, records })
  return cli
}

describe('dead-letters list', () => {
  test('shows where each stood and what is wrong', async () => {
    const { run } = await withLetters(letter('id-1', 'invalid_json'))
    expect(await run('dead-letters', 'list')).toEqual({
      code: 0,
      stderr: '',
      stdout: `2026-03-04T12:00:00.000Z  event-logs  invalid_json: what is wrong
    attempt 1, sluice.event-logs.v1/3 offset 41, id id-1
`,
    })
  })

  test('says so where there are none', async () => {
    expect((await cliOnMemory().run('dead-letters', 'list')).stdout).toBe('No dead letter was found.\n')
    expect((await cliOnMemory().run('dead-letters', 'list', '--json')).stdout).toBe('')
  })

  test.each<[string[], string[]]>([
    [['--view', 'flows'], ['id-2']],
    [['--reason', 'refused_by_store'], ['id-3']],
    [['--id', 'id-1'], ['id-1']],
    [
      ['--since', 'now-1h'],
      ['id-2', 'id-3'],
    ],
    [['--until', '2026-03-04T11:00:00Z'], ['id-1']],
    [['--since', '2026-03-04T11:30:00+00:00', '--until', 'now'], ['id-2']],
    [
      ['--limit', '2'],
      ['id-1', 'id-2'],
    ],
    [[], ['id-1', 'id-2', 'id-3']],
  ])('narrows by %j', async (options, ids) => {
    const { run } = await withLetters(
      letter('id-1', 'invalid_json', { at: '2026-03-04T10:00:00.000Z' }),
      letter('id-2', 'invalid_json', { view: 'flows', at: '2026-03-04T11:30:00.000Z' }),
      letter('id-3', 'refused_by_store', { at: NOW }),
    )
    const { stdout } = await run('dead-letters', 'list', '--json', ...options)
    const lines = stdout.split('\n').filter((line) => line !== '')
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(ids)
  })

  test('says when there may be more', async () => {
    const { run } = await withLetters(letter('id-1', 'invalid_json'), letter('id-2', 'invalid_json'))
    expect((await run('dead-letters', 'list', '--limit', '1')).stdout).toContain(
      '1 shown; there may be more, see --limit.',
    )
  })

  test('a header cannot steer the terminal', async () => {
    const { run } = await withLetters(letter('\u001b[2J\u009b2Jid\u202e', 'invalid_json'))
    for (const options of [[], ['--json']])
      expect((await run('dead-letters', 'list', ...options)).stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u)
  })
})

describe('dead-letters replay', () => {
  test('puts the records back and counts them', async () => {
    const { run, journal } = await withLetters(letter('id-1', 'invalid_json'))
    expect(await run('dead-letters', 'replay')).toEqual({ code: 0, stdout: '1 record put back\n', stderr: '' })
    const [back] = journal.recordsOf('sluice.event-logs.v1')
    expect([back?.partition, back?.value?.toString()]).toEqual([3, 'value of id-1'])
    expect((await run('dead-letters', 'replay')).stdout).toBe('0 records put back\n')
    expect((await run('dead-letters', 'list')).stdout).toContain(', replayed')
  })

  test('puts back only what the filters name', async () => {
    const { run, journal } = await withLetters(letter('id-1', 'invalid_json'), letter('id-2', 'refused_by_store'))
    await run('dead-letters', 'replay', '--reason', 'refused_by_store', '--rate-per-second', '1000')
    expect(journal.recordsOf('sluice.event-logs.v1').map(({ headers }) => headers['ce_id'])).toEqual(['id-2'])
  })

  test('exits with 1 and says how many it left, and why', async () => {
    const { run } = await withLetters(letter('id-1', 'invalid_json', { attempt: 9 }))
    expect(await run('dead-letters', 'replay')).toEqual({
      code: 1,
      stdout: '0 records put back\n',
      stderr: 'Left where they are:\n  1  too_many_attempts\n',
    })
  })
})

test.each<[string[], string]>([
  [['list', '--view', 'flow'], '--view is one of event-logs, application-logs, flows, not "flow"; did you mean flows?'],
  [['list', '--reason', 'invalid'], 'did you mean invalid_json?'],
  [
    ['list', '--since', 'yesterday'],
    '--since is a time such as 2026-01-31T09:30:00Z or now-1h (s, m, h, d, w), not "yesterday"',
  ],
  [['list', '--until', '2026-02-30'], '--until is a time'],
  [['list', '--limit', '0'], '--limit is a whole number from 1 to 1000000, not "0"'],
  [['replay', '--rate-per-second', '1.5'], '--rate-per-second is a whole number from 1 to 100000, not "1.5"'],
  [['replay', '--limit', '3'], 'there is no option --limit'],
])('dead-letters %j is refused with 2', async (argv, message) => {
  const { code, stderr } = await cliOnMemory().run('dead-letters', ...argv)
  expect(code).toBe(2)
  expect(stderr).toContain(message)
})
