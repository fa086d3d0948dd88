import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createReadGate, TEAM_READS_MAX } from '../../../../views/api/read-gate.ts'
import type { SavedSearch, SavedSearches } from '../../../../views/schemas/team.ts'
import { KEY_B, startTeam, type TeamAnswer, type TeamFixture } from '../../../support/team-fixture.ts'

let team: TeamFixture
beforeEach(async () => {
  team = await startTeam()
})
afterEach(() => team.close())

const SEARCH = { name: 'Errors', page: 'event-logs', params: { level: 'Error', columns: 'level,payload' } }
const outcome = ({ status, error }: TeamAnswer) => [status, error?.code]
const problem = ({ error }: TeamAnswer) => (error.details as { path: string; message: string }[])[0]
const ofB = { 'x-api-key': KEY_B }
const items = async (headers?: Record<string, string>): Promise<readonly SavedSearch[]> =>
  ((await team.ask('GET', '/searches', undefined, headers)).data as SavedSearches).items

describe('/api/team/searches', () => {
  test('a search is saved for the Team, renamed and deleted, and shown at once each time', async () => {
    const { status, data } = await team.ask('POST', '/searches', SEARCH)
    const { id } = data as SavedSearch
    expect([status, data]).toEqual([201, { id: expect.stringMatching(/^[0-9a-f-]{36}$/), ...SEARCH }])
    expect(await items()).toEqual([{ id, ...SEARCH }])
    expect(await items(ofB)).toEqual([])
    const renamed = await team.ask('PATCH', `/searches/${id.toUpperCase()}`, { name: 'All errors' })
    expect([renamed.status, renamed.data]).toEqual([200, { id, ...SEARCH, name: 'All errors' }])
    expect(await items()).toEqual([{ id, ...SEARCH, name: 'All errors' }])
    expect((await team.ask('DELETE', `/searches/${id}`)).data).toEqual({ id })
    expect(await items()).toEqual([])
  })

  test('wait until reads have room', async () => {
    const gate = createReadGate(64 * 1024 * 1024)
    const held = Promise.withResolvers<string>()
    const works = Array.from({ length: TEAM_READS_MAX }, () =>
      gate.run('a', new AbortController().signal, () => held.promise),
    )
    const busy = await startTeam({ gate, deadlineMs: 10 })
    expect(outcome(await busy.ask('GET', '/searches'))).toEqual([429, 'rate_limited'])
    held.resolve('')
    for (const { release } of await Promise.all(works)) release()
    expect((await busy.ask('GET', '/searches')).status).toBe(200)
    await busy.close()
  })

  test('another Team can neither change nor delete it', async () => {
    const { data } = await team.ask('POST', '/searches', SEARCH)
    const path = `/searches/${(data as SavedSearch).id}`
    expect(outcome(await team.ask('PATCH', path, { name: 'Mine' }, ofB))).toEqual([404, 'not_found'])
    expect(outcome(await team.ask('DELETE', path, undefined, ofB))).toEqual([404, 'not_found'])
    expect(await items()).toHaveLength(1)
  })

  test.each([
    ['no name', { ...SEARCH, name: undefined }, '/name', 'is missing'],
    ['an empty name', { ...SEARCH, name: '' }, '/name', 'is empty'],
    ['a long name', { ...SEARCH, name: 'x'.repeat(1_025) }, '/name', 'has 1025 bytes; the most is 1024'],
    ['another page', { ...SEARCH, page: 'team' }, '/page', 'must be event-logs, application-logs or flows'],
    ['no object', { ...SEARCH, params: 'level=Error' }, '/params', 'must be an object of parameters, each with a text'],
    [
      'an unknown parameter',
      { ...SEARCH, params: { live: '1' } },
      '/params/live',
      'is not a parameter; a saved search has q, level, levelMax, environment, event, step, project, category, template, exceptionGroup, from, to, order, columns, group, chart, value, by, before, state, sort, view',
    ],
    ['a long value', { ...SEARCH, params: { q: 'x'.repeat(1_025) } }, '/params/q', 'has 1025 bytes; the most is 1024'],
    ['a value that is no text', { ...SEARCH, params: { q: 1 } }, '/params/q', 'must be a string'],
    ['an unknown field', { ...SEARCH, shared: true }, '/shared', 'is not a field; this path takes name, page, params'],
  ])('%s is refused with what to change', async (_what, body, path, message) => {
    const answer = await team.ask('POST', '/searches', body)
    expect([answer.status, problem(answer)]).toEqual([400, { path, message }])
  })

  test('every wrong parameter is named, beside the other fields', async () => {
    const { error } = await team.ask('POST', '/searches', { params: { q: 1, 'a/b': 'x', level: '' }, page: 'flows' })
    const paths = (error.details as readonly { readonly path: string }[]).map(({ path }) => path)
    expect(paths).toEqual(['/params/q', '/params/a~1b', '/params/level', '/name'])
  })

  test('a name that is there already is refused, and the message says so', async () => {
    await team.ask('POST', '/searches', SEARCH)
    const answer = await team.ask('POST', '/searches', SEARCH)
    expect([answer.status, answer.error.message]).toEqual([
      409,
      'The Team has a saved search named "Errors" already. Choose another name.',
    ])
  })
})
