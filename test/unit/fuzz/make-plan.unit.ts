import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ROUTES } from '../../../views/api/routes.ts'
import { ATTACKS } from '../../fuzz/attacks/attacks.ts'
import { openConnection } from '../../fuzz/connection.ts'
import { planOf } from '../../fuzz/make-plan.ts'
import { markIn, markOf } from '../../fuzz/marks.ts'
import type { Material } from '../../fuzz/material.ts'
import type { Plan, Script } from '../../fuzz/plan.ts'
import { createRandom } from '../../fuzz/random.ts'
import { startBare } from '../../support/raw-http.ts'

const MATERIAL: Material = {
  eventIds: ['01980000-0000-7000-8000-000000000001'],
  applicationIds: ['01980000-0000-7000-8000-000000000002'],
  flows: ['flow-1', 'flow-2'],
  cursors: { desc: ['WyJkZXNjIl0'], asc: ['WyJhc2MiXQ'], flows: ['WyJmbG93cyJd'], tail: ['WyJ0YWlsIiwiMSJd'] },
  assets: ['index.js'],
}

const plan = (number: number, withAttacks = false, seed = 1): Plan => planOf(seed, number, MATERIAL, withAttacks)
const plans = (count: number): readonly Plan[] => Array.from({ length: count }, (_, number) => plan(number))
const scriptsOf = ({ stages }: Plan): readonly Script[] => stages.flatMap(({ scripts }) => scripts)

test('a number of a seed is always the same case, whatever was made before it', () => {
  const forward = plans(400)
  const backward = Array.from({ length: 400 }, (_, index) => plan(399 - index)).reverse()
  // Many times quicker than Jest's own comparison of so many bytes.
  expect(isDeepStrictEqual(backward, forward)).toBe(true)
  const other = plan(7, false, 2)
  expect(other).not.toEqual(forward[7])
})

test('the attacks take the places of some cases and leave all others as they are', () => {
  const numbers = Array.from({ length: 1_500 }, (_, number) => number)
  const attacked = numbers.filter((number) => plan(number, true).label.startsWith('attack'))
  expect(attacked.length).toBeGreaterThan(0)
  expect(attacked.length).toBeLessThan(20)
  const [first = 0] = attacked
  expect(plan(first).label).not.toMatch(/^attack/)
  expect(plan(first + 1, true)).toEqual(plan(first + 1))
})

test('every route of the read API and every way of sending logs is among the first cases', () => {
  const routes = new Set(
    plans(4_000).flatMap((one) => scriptsOf(one).flatMap(({ requests }) => requests.map(({ route }) => route))),
  )
  const expected = ROUTES.map(({ path }) => `GET ${path}`)
  expect([...routes]).toEqual(expect.arrayContaining(expected))
  expect([...routes]).toEqual(
    expect.arrayContaining([
      'POST /api/ExternalLogs',
      'POST /api/ApplicationLogs',
      'POST /api/ApplicationLogs/batch',
      'POST /v1/logs',
      'POST /ingest/otlp/v1/logs',
      'POST /ingest/clef',
      'POST /api/events/raw',
      'POST /ingest/json',
      'POST /api/session',
      'GET /api/team',
      'POST /api/team/keys',
      'PATCH /api/team/events/:id',
      'GET /',
      'GET /metrics',
      'GET /health/live',
    ]),
  )
})

test('every attack can be made in both sizes, and what it stores has its mark', () => {
  const marks = new Set<string | undefined>()
  for (const [name, attack] of Object.entries(ATTACKS)) {
    const context = { random: createRandom(1, 1), material: MATERIAL, mark: markOf(1, 0) }
    const small = attack(context, 'small')
    expect([name, small.flatMap(({ scripts }) => scripts).length]).not.toEqual([name, 0])
    const bytes = small.flatMap(({ scripts }) => scripts).reduce((sum, { wire }) => sum + wire.length, 0)
    expect(bytes).toBeLessThan(name === 'too large' ? 6_000_000 : 200_000)
    for (const { stores, body = '' } of small.flatMap(({ scripts }) => scripts).flatMap(({ requests }) => requests))
      if (stores !== undefined) marks.add(markIn(gunzipSync(body).toString()))
  }
  expect([...marks]).toEqual([markOf(1, 0)])
})

test('what owes an answer is a whole request, to Node as well', async () => {
  let seen = 0
  const { port, close } = await startBare(
    (request, response) => {
      seen += 1
      request.resume().on('end', () => response.end())
    },
    () => undefined,
    { requireHostHeader: false, maxHeaderSize: 200_000 },
  )
  const scripts = plans(500)
    .flatMap(scriptsOf)
    .filter(({ requests }) => requests.every(({ torn }) => !torn))
    .filter(({ owed }) => owed > 0)
  let sent = 0
  for (const script of scripts) {
    const connection = await openConnection(port)
    const { answers, garbled } = await connection.run({ ...script, end: { kind: 'close' }, cuts: [] }, script.wire)
    connection.close()
    sent += script.owed
    const told = script.requests.map(({ mutations }) => mutations)
    expect({ told, answers: answers.length, garbled }).toEqual({ told, answers: script.owed, garbled: undefined })
  }
  await close()
  expect(seen).toBe(sent)
  expect(sent).toBeGreaterThan(400)
})

test('a mark is found in a text, and a damaged one is none', () => {
  const mark = markOf(4711, 2)
  expect(markIn(`a ${mark}x7x b`)).toBe(mark)
  expect(markIn(mark.replace('4711', '4712'))).toBeUndefined()
  expect(markIn('')).toBeUndefined()
})
