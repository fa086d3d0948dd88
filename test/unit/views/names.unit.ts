import { afterEach, beforeEach, expect, test } from 'vitest'
import { PROJECT, startViews, type ViewsFixture } from '../../support/views-fixture.ts'

let views: ViewsFixture
beforeEach(async () => {
  views = await startViews()
})
afterEach(() => views.close())

const ORDER = { identifier: 'order', name: 'Order placed' }
const CHECKOUT = { id: PROJECT, name: 'Checkout' }
const namesOf = async (query: string) => (await views.get(`/api/names?${query}`)).data

test('names are found by part of a name or an identifier, those of the own Team alone', async () => {
  expect(await namesOf('')).toEqual({ events: [ORDER], projects: [CHECKOUT] })
  expect(await namesOf('q=PLACED')).toEqual({ events: [ORDER], projects: [] })
  expect(await namesOf('q=check')).toEqual({ events: [], projects: [CHECKOUT] })
  expect(await namesOf(`q=${PROJECT.slice(3, 9)}`)).toEqual({ events: [], projects: [CHECKOUT] })
  expect(await namesOf('q=secret')).toEqual({ events: [], projects: [] })
})

test('as many are named as were asked for, in the order of their names', async () => {
  for (const name of ['b', 'A', 'c']) {
    const id = `id-${name}`
    views.projects.set(id, { id, team: 'a', name })
    views.entities.set(id, { kind: 'event', identifier: id, team: 'a', name })
  }
  expect(await namesOf('limit=2')).toMatchObject({
    events: [{ name: 'A' }, { name: 'b' }],
    projects: [{ name: 'A' }, { name: 'b' }],
  })
})
