import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Choices, EntryPage, Groups } from '../../../views/schemas/answers.ts'
import { applicationLog, eventLog, PROJECT, startViews, type ViewsFixture } from '../../support/views-fixture.ts'

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(() => views.close())

const LOGS = '/api/application-logs'
const groupsOf = async (path: string): Promise<Groups> => (await views.get<Groups>(path)).data
const counted = ({ items }: Groups) => items.map(({ label, count }) => `${label} ${count}`)

describe('GET …/groups', () => {
  test('has application logs by their templates, with an example of each', async () => {
    views.store.add(
      applicationLog({ message: 'Order 1 is late', level: 'Error' }),
      applicationLog({ message: 'Order 2 is late', scopeData: { '@mt': 'Order {Order} is late' } }),
      applicationLog({ message: 'Order 3 is late', scopeData: { '@mt': 'Order {Order} is late' } }),
    )
    const groups = await groupsOf(`${LOGS}/groups`)
    expect(groups).toMatchObject({ by: 'template', more: false, ungrouped: 0 })
    expect(counted(groups)).toEqual(['Order {Order} is late 2', 'Order <*> is late 1'])
    const [first, second] = groups.items
    expect(first).toMatchObject({ detail: null, sample: { message: expect.stringMatching(/Order [23] is late/) } })
    expect(second).toMatchObject({ worstLevel: 'Error', sample: { message: 'Order 1 is late' } })
    expect(first?.counts).toHaveLength(groups.spans.length)
    expect(groups.spans.length).toBeLessThanOrEqual(24)
  })

  test('has exceptions by type and the first own calls, and tells of logs without one', async () => {
    const exception = 'Acme.Refused: 1\n   at System.X()\n   at Acme.Pay()\n   at Acme.Main()'
    views.store.add(applicationLog({ exception }), applicationLog({ exception: null }))
    const groups = await groupsOf(`${LOGS}/groups?by=exception`)
    expect(groups.items).toMatchObject([{ label: 'Acme.Refused', detail: 'Acme.Pay()\nAcme.Main()', count: 1 }])
    expect(groups.ungrouped).toBe(1)
  })

  test('names groups after the whole log where its row lacks the texts that they are made of', async () => {
    const long = 'x'.repeat(5_000)
    views.store.add(
      applicationLog({ message: `Order ${long}!`, scopeData: { long, '@mt': 'Order {Order}!' } }),
      applicationLog({
        message: 'b',
        exception: `Traceback (most recent call last):\n${`  File "/a/b.py", line 1, in c\n    ${'d'.repeat(400)}\n`.repeat(20)}acme.No: 1`,
      }),
    )
    expect(counted(await groupsOf(`${LOGS}/groups`))).toContain('Order {Order}! 1')
    expect(counted(await groupsOf(`${LOGS}/groups?by=exception`))).toEqual(['acme.No 1'])
  })

  test('has either kind by its fields, under the names of the registry', async () => {
    views.store.add(
      applicationLog({ project: PROJECT }),
      eventLog({ event: 'order', step: null }),
      eventLog({ event: 'gone', step: null }),
      eventLog({ event: 'gone', step: null, environment: 'Test' }),
    )
    expect(counted(await groupsOf(`${LOGS}/groups?by=project`))).toEqual(['Checkout 1'])
    expect(counted(await groupsOf('/api/event-logs/groups'))).toEqual(['gone 2', 'Order placed 1'])
    expect(counted(await groupsOf('/api/event-logs/groups?by=environment&event=gone'))).toHaveLength(2)
  })

  test('has logs by every value that a search finds, under its aliases as well', async () => {
    const scopeData = { tenant: ['acme', 'shop'], traceId: 'ab' }
    views.store.add(
      applicationLog({ scopeData, eventId: 7, eventName: 'Paid', correlationKey: 'order-1' }),
      eventLog({ payload: '{"order":{"id":4711}}' }),
    )
    const found = async (by: string, base = LOGS) => {
      const groups = await groupsOf(`${base}/groups?by=${encodeURIComponent(by)}`)
      return [groups.by, ...groups.items.map(({ label }) => label)]
    }
    expect(await found('scopeData.tenant')).toEqual(['scope.tenant', 'acme', 'shop'])
    expect(await found('trace')).toEqual(['trace', 'ab'])
    expect(await found('EVENTID')).toEqual(['eventId', '7'])
    expect(await found('eventName')).toEqual(['eventName', 'Paid'])
    expect(await found('flow')).toEqual(['correlationKey', 'order-1'])
    expect(await found('payload.order.id', '/api/event-logs')).toEqual(['payload.order.id', '4711'])
    expect(await found('scope.a\0b')).toEqual(['scope.a\uFFFDb'])
  })

  test('takes the filters of the list and as many groups as are asked for', async () => {
    views.store.add(
      ...['a', 'b', 'c'].map((message) => applicationLog({ message })),
      applicationLog({ message: 'a', environment: 'Test' }),
    )
    const groups = await groupsOf(`${LOGS}/groups?q=(a OR b) -environment:Test&groups=1`)
    expect(groups).toMatchObject({ items: [{ count: 1 }], more: true })
  })

  test.each([
    ['/api/event-logs/groups?by=template', 'by'],
    [`${LOGS}/groups?by=event`, 'by'],
    [`${LOGS}/groups?by=other`, 'by'],
    [`${LOGS}/groups?by=message`, 'by'],
    [`${LOGS}/groups?by=timestamp`, 'by'],
    [`${LOGS}/groups?by=payload.order`, 'by'],
    [`${LOGS}/groups?by=scope.`, 'by'],
    [`${LOGS}/groups?by=scope.<key>.${'x'.repeat(250)}`, 'by'],
    [`${LOGS}/groups?by=scope%2E${'x'.repeat(251)}`, 'by'],
    [`${LOGS}/groups?groups=201`, 'groups'],
    [`${LOGS}?template=x`, 'template'],
    [`${LOGS}?exceptionGroup=5f1c0a9be2d4`, 'exceptionGroup'],
  ])('%s is refused', async (path, parameter) => {
    const { status, error } = await views.get(path)
    expect(status).toBe(400)
    expect(error.details).toEqual([{ path: parameter, message: expect.stringMatching(/^must be /) }])
  })
})

test('a list takes the id of a group, and the choices name it', async () => {
  views.store.add(
    applicationLog({ message: 'order 1', exception: 'Acme.No: 1' }),
    applicationLog({ message: 'order 2' }),
    applicationLog({ message: 'started' }),
  )
  const [{ value: template } = { value: '' }] = (await groupsOf(`${LOGS}/groups`)).items
  const [{ value: exceptionGroup } = { value: '' }] = (await groupsOf(`${LOGS}/groups?by=exception`)).items
  const list = async (query: string) => (await views.get<EntryPage>(`${LOGS}?${query}`)).data.items
  expect(await list(`template=${template}`)).toHaveLength(2)
  expect(await list(`template=${template.toUpperCase()}&exceptionGroup=${exceptionGroup}`)).toHaveLength(1)
  const chosen = async (query: string) => (await views.get<Choices>(`${LOGS}/choices?${query}`)).data.chosen
  expect(await chosen(`template=${template}&exceptionGroup=${exceptionGroup}`)).toEqual([
    { name: 'template', value: template, label: 'order <*>' },
    { name: 'exceptionGroup', value: exceptionGroup, label: 'Acme.No' },
  ])
  expect(await chosen('template=0000000000000')).toEqual([
    { name: 'template', value: '0000000000000', label: '0000000000000' },
  ])
})
