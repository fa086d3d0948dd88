import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Choice, Choices } from '../../../views/schemas/answers.ts'
import {
  applicationLog,
  eventLog,
  OTHER_PROJECT,
  PROJECT,
  startViews,
  type ViewsFixture,
} from '../../support/views-fixture.ts'

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(() => views.close())

const choicesOf = async (path: string): Promise<Choices> => (await views.get<Choices>(path)).data

const outline = (choices: readonly Choice[], indent = ''): readonly string[] =>
  choices.flatMap(({ name, value, label, count, children }) => [
    `${indent}${name} ${value} ${label} ${count}`,
    ...outline(children, `${indent}  `),
  ])
const outlines = ({ sections }: Choices) => sections.map(({ name, choices }) => [name, ...outline(choices)])

describe('GET …/choices', () => {
  test('has Events with their Steps in their order, those without entries too, then what only entries know', async () => {
    views.store.add(
      eventLog({ step: 'order.pay' }),
      eventLog({ event: 'order' }),
      eventLog({ event: 'gone', step: null }),
      eventLog({ event: null, step: 'lost' }),
    )
    expect(outlines(await choicesOf('/api/event-logs/choices'))).toEqual([
      [
        'Events and steps',
        expect.stringMatching(/^event order Order placed \d$/),
        expect.stringMatching(/^ {2}step order\.\w+ \w+ 0$/),
        '  step order.pay Pay 1',
        expect.stringMatching(/^ {2}step order\.ship Ship 0$/),
        'event gone gone 1',
      ],
      ['Steps on their own', 'step audit Audit 0', 'step lost lost 1'],
    ])
  })

  test('has Projects, and categories as a tree', async () => {
    views.store.add(
      applicationLog({ categoryName: 'Acme.Billing' }),
      applicationLog({ categoryName: 'Acme.Shop' }),
      applicationLog({ project: OTHER_PROJECT, categoryName: 'Acme.Shop' }),
    )
    const [projects = [], categories] = outlines(await choicesOf('/api/application-logs/choices'))
    expect(projects).toEqual([
      'Projects',
      `project ${PROJECT} Checkout 2`,
      `project ${OTHER_PROJECT} ${OTHER_PROJECT} 1`,
    ])
    expect(categories).toEqual([
      'Categories',
      'category Acme Acme 3',
      '  category Acme.Shop Shop 2',
      '  category Acme.Billing Billing 1',
    ])
  })

  test('what is chosen does not narrow its own kind, and is named', async () => {
    views.store.add(
      eventLog({ step: 'order.pay', level: 'Error' }),
      eventLog({ event: 'gone', step: null, level: 'Error', environment: 'Live' }),
      eventLog({ event: 'order', step: null }),
    )
    const chosen = await choicesOf('/api/event-logs/choices?level=Error&step=order.pay')
    expect(chosen).toMatchObject({
      total: 1,
      level: [{ value: 'Error', count: 1 }],
      environment: [{ value: 'Development', count: 1 }],
      chosen: [{ name: 'step', value: 'order.pay', label: 'Pay' }],
    })
    const lines = outlines(chosen).flat()
    expect(lines).toContain('event order Order placed 1')
    expect(lines).toContain('event gone gone 1')
    const live = await choicesOf('/api/event-logs/choices?environment=Live&category=Acme')
    expect(live.chosen).toEqual([{ name: 'category', value: 'Acme', label: 'Acme' }])
  })

  test('counts all Steps and categories of a large Team, and with a category those below it', async () => {
    const many = Array.from({ length: 150 }, (_, index) => index)
    for (const index of many)
      views.entities.set(`s${index}`, {
        ...{ kind: 'step', identifier: `s${index}`, team: 'a', name: `S${index}`, event: 'order', order: index },
      })
    views.store.add(
      ...many.map((index) => eventLog({ step: `s${index}` })),
      ...many.map((index) => applicationLog({ categoryName: `Acme.Part${index}` })),
    )
    const steps = outlines(await choicesOf('/api/event-logs/choices')).flat()
    for (const index of many) expect(steps).toContain(`  step s${index} S${index} 1`)
    const categories = outlines(await choicesOf('/api/application-logs/choices')).flat()
    expect(categories).toContain('category Acme Acme 150')
  })

  test('counts levels whatever the range of them is', async () => {
    views.store.add(eventLog({ level: 'Error' }), eventLog({ level: 'Debug' }))
    for (const range of ['level=Error', 'level=Error&levelMax=Error', 'levelMax=Debug']) {
      const { total, level } = await choicesOf(`/api/event-logs/choices?${range}`)
      expect([total, level.length]).toEqual([1, 2])
    }
  })
})

describe('GET …/completion', () => {
  const labelsOf = async (path: string): Promise<readonly string[]> =>
    (await views.get<{ choices: { label: string }[] }>(path)).data.choices.map(({ label }) => label)

  test('has names, leaves and values of the entries that the filter selects, and what the Team has', async () => {
    views.store.add(
      eventLog({ payload: '{"order":{"id":1}}', environment: 'Live' }),
      eventLog({ payload: '{"cut":', environment: 'Test' }),
      applicationLog({ scopeData: { RequestId: 'x' } }),
    )
    expect(await labelsOf('/api/event-logs/completion?q=payload.o&caret=9')).toEqual(['payload.order.id'])
    expect(await labelsOf('/api/application-logs/completion?q=-scope.&caret=7')).toEqual(['scope.RequestId'])
    expect(await labelsOf('/api/event-logs/completion?q=env:&caret=4')).toEqual(['Live', 'Test'])
    expect(await labelsOf('/api/event-logs/completion?q=env:&caret=4&environment=Test')).toEqual(['Test'])
    expect(await labelsOf('/api/event-logs/completion?q=step:order.sh&caret=13')).toEqual(['order.ship'])
    expect(await labelsOf('/api/event-logs/completion?q=project:check&caret=13')).toEqual([PROJECT])
  })

  test('has values of leaves and eventNames, the frequent ones first, and rare names beyond the newest entries', async () => {
    const rare = applicationLog({ scopeData: { deep: { Shard: 'r1' } }, timestamp: '2026-01-01T00:00:00Z' })
    const usual = Array.from({ length: 400 }, (_, index) =>
      applicationLog({ scopeData: { tenant: index % 3 === 0 ? 'acme' : 'blue sky' }, eventName: 'Started' }),
    )
    views.store.add(rare, ...usual, applicationLog({ eventName: 'Ended' }))
    const at = (q: string) =>
      labelsOf(`/api/application-logs/completion?${new URLSearchParams({ q, caret: String(q.length) })}`)
    expect(await at('scope.tenant:')).toEqual(['blue sky', 'acme'])
    expect(await at('scope.tenant:ac')).toEqual(['acme'])
    expect(await at('eventName:')).toEqual(['Started', 'Ended'])
    expect(await at('scope.')).toEqual(['scope.tenant'])
    expect(await at('scope.deep.sha')).toEqual(['scope.deep.Shard'])
    expect(await at('scope.deep.Shard:')).toEqual(['r1'])
    expect(await at('scope.none:')).toEqual([])
    expect(await at('payload.tenant:')).toEqual([])
  })

  test('has rare values by what is typed of them, and counts only where they are exact', async () => {
    const early = { timestamp: '2026-01-01T00:00:00Z' }
    views.store.add(
      ...['PaymentFailed', 'PaymentFailed', 'PageMissing'].map((eventName) =>
        applicationLog({ eventName, scopeData: { tenant: 'globex' }, ...early }),
      ),
      ...Array.from({ length: 400 }, () => applicationLog({ eventName: 'Started', scopeData: { tenant: 'acme' } })),
    )
    const at = async (q: string) => {
      const path = `/api/application-logs/completion?${new URLSearchParams({ q, caret: String(q.length) })}`
      const { data } = await views.get<{ choices: { label: string; count?: number }[] }>(path)
      return data.choices.map(({ label, count }) => [label, count])
    }
    expect(await at('eventName:Pay')).toEqual([['PaymentFailed', 2]])
    expect(await at('scope.tenant:glo')).toEqual([['globex', 3]])
    expect(await at('scope.tenant:acm')).toEqual([['acme', undefined]])
    expect(await at('scope.tenant:')).toEqual([['acme', undefined]])
    expect(await at('eventName:')).toEqual([['Started', undefined]])
    expect(await at('eventName:---')).toEqual([])
  })

  test('has a category that is rare among many', async () => {
    views.store.add(
      ...Array.from({ length: 150 }, (_, index) => applicationLog({ categoryName: `Acme.Part${index}` })),
      applicationLog({ categoryName: 'Zeta' }),
    )
    expect(await labelsOf('/api/application-logs/completion?q=category:ze&caret=11')).toEqual(['Zeta'])
  })

  test('has whole names of numbers alone where these are asked for', async () => {
    views.store.add(
      applicationLog({
        scopeData: { 'a b': 7, ms: 12.5, rows: '40', tenant: 'acme', at: '2026-01-31', took: '5ms', big: '1e99' },
      }),
    )
    const named = (q: string) =>
      labelsOf(`/api/application-logs/completion?${new URLSearchParams({ q, type: 'number' })}`)
    expect((await named('')).toSorted()).toEqual(['scope.a b', 'scope.big', 'scope.ms', 'scope.rows'])
    expect(await named('SCOPE.m')).toEqual(['scope.ms'])
    expect(await named('level')).toEqual([])
    const { data } = await views.get('/api/application-logs/completion?q=scope.a&type=number')
    expect(data).toEqual({ from: 0, to: 7, choices: [{ insert: 'scope.a b', label: 'scope.a b' }] })
  })

  test('has nothing beyond the end of the search, and nothing where nothing was typed', async () => {
    expect(await labelsOf('/api/event-logs/completion?q=lev&caret=99')).toEqual(['level'])
    expect(await labelsOf('/api/event-logs/completion?caret=3')).toEqual([])
  })
})
