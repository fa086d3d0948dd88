import { describe, expect, test } from 'vitest'
import { type Journal, unpacked } from '../../../../shared/journal/journal.ts'
import { createRegistryAdmin } from '../../../../shared/registry/admin.ts'
import { SEARCHES_MAX } from '../../../../shared/registry/search-admin.ts'
import { overtaken, registryIn, registryOnMemory } from '../../../support/registry-topic.ts'

const idOf = (number: number): string => `3f2504e0-4f89-41d3-9a0c-${String(number).padStart(12, '0')}`
const search = (name: string) => ({ name, page: 'event-logs', params: { level: 'Error' } }) as const

async function setUp() {
  const setup = registryOnMemory()
  await setup.admin.applyFile('teams: [{ id: a }, { id: b }]', { prune: false })
  return { ...setup, registry: () => registryIn(setup) }
}

describe('saved searches', () => {
  test('are kept for their Team, by name, until they are deleted', async () => {
    const { admin, registry } = await setUp()
    await admin.changeSearch('a', { id: idOf(1), to: search('Late') })
    await admin.changeSearch('a', { id: idOf(2), to: search('Errors') })
    await admin.changeSearch('b', { id: idOf(3), to: search('Late') })
    expect(registry().searchesOf('a')).toEqual([
      { id: idOf(2), ...search('Errors') },
      { id: idOf(1), ...search('Late') },
    ])
    expect(await admin.changeSearch('a', { id: idOf(1), to: { name: 'Done' } })).toEqual({
      outcome: 'changed',
      search: { id: idOf(1), ...search('Done') },
    })
    expect(
      registry()
        .searchesOf('a')
        .map(({ name }) => name),
    ).toEqual(['Done', 'Errors'])
    await admin.changeSearch('a', { id: idOf(2), to: null })
    expect(
      registry()
        .searchesOf('a')
        .map(({ name }) => name),
    ).toEqual(['Done'])
    expect(registry().searchesOf('b')).toHaveLength(1)
  })

  test('of another Team, or that are gone, cannot be changed', async () => {
    const { admin, registry } = await setUp()
    await admin.changeSearch('b', { id: idOf(1), to: search('Theirs') })
    for (const to of [{ name: 'Mine' }, null])
      expect(await admin.changeSearch('a', { id: idOf(1), to })).toEqual({ outcome: 'refused', because: 'not_found' })
    expect(registry().searchesOf('b')).toMatchObject([{ name: 'Theirs' }])
  })

  test('have a name each', async () => {
    const { admin } = await setUp()
    await admin.changeSearch('a', { id: idOf(1), to: search('Errors') })
    await admin.changeSearch('a', { id: idOf(2), to: search('Late') })
    const refused = { outcome: 'refused', because: 'exists' }
    expect(await admin.changeSearch('a', { id: idOf(3), to: search('Errors') })).toEqual(refused)
    expect(await admin.changeSearch('a', { id: idOf(2), to: { name: 'Errors' } })).toEqual(refused)
    expect(await admin.changeSearch('a', { id: idOf(1), to: { name: 'Errors' } })).toMatchObject({ outcome: 'changed' })
  })

  test('are so many at most, and one that is deleted makes room', async () => {
    const { admin } = await setUp()
    for (let number = 0; number < SEARCHES_MAX; number += 1)
      await admin.changeSearch('a', { id: idOf(number), to: search(`no. ${number}`) })
    const more = { id: idOf(SEARCHES_MAX), to: search('one more') }
    expect(await admin.changeSearch('a', more)).toEqual({ outcome: 'refused', because: 'too_many' })
    expect(await admin.changeSearch('a', { id: idOf(7), to: { name: 'renamed' } })).toMatchObject({
      outcome: 'changed',
    })
    await admin.changeSearch('a', { id: idOf(7), to: null })
    expect(await admin.changeSearch('a', more)).toMatchObject({ outcome: 'changed' })
  })

  test('stay when a file is applied, and go with their Team', async () => {
    const { admin, registry, journal, topic } = await setUp()
    await admin.changeSearch('a', { id: idOf(1), to: search('Errors') })
    await admin.changeSearch('b', { id: idOf(2), to: search('Errors') })
    await admin.applyFile('teams: [{ id: a }]', { prune: true })
    expect(registry().searchesOf('a')).toHaveLength(1)
    await admin.applyFile('teams: [{ id: b }]', { prune: false })
    expect([registry().searchesOf('b'), journal.recordsOf(topic).at(-1)?.key?.toString()]).toEqual([[], 'team/b'])
  })
})

describe('between the first reading and the append of a change, another process', () => {
  const names = ({ registry }: Awaited<ReturnType<typeof setUp>>) =>
    registry()
      .searchesOf('a')
      .map(({ name }) => name)

  test('deletes the search: renaming it does not bring it back', async () => {
    const setup = await setUp()
    await setup.admin.changeSearch('a', { id: idOf(1), to: search('Errors') })
    const remove = () => setup.admin.changeSearch('a', { id: idOf(1), to: null })
    const renamed = await overtaken(setup, remove).changeSearch('a', { id: idOf(1), to: { name: 'Late' } })
    expect([renamed, names(setup)]).toEqual([{ outcome: 'refused', because: 'not_found' }, []])
  })

  test('takes the name: the later one is taken back', async () => {
    const setup = await setUp()
    const take = () => setup.admin.changeSearch('a', { id: idOf(1), to: search('Errors') })
    const late = await overtaken(setup, take).changeSearch('a', { id: idOf(2), to: search('Errors') })
    expect([late, names(setup)]).toEqual([{ outcome: 'refused', because: 'exists' }, ['Errors']])
  })

  test('saves the last search that there may be: the later one is taken back', async () => {
    const setup = await setUp()
    const save = (number: number) => ({ id: idOf(number), to: search(`no. ${number}`) })
    for (let number = 1; number < SEARCHES_MAX; number += 1) await setup.admin.changeSearch('a', save(number))
    const take = () => setup.admin.changeSearch('a', save(SEARCHES_MAX))
    const late = await overtaken(setup, take).changeSearch('a', save(SEARCHES_MAX + 1))
    expect([late, names(setup)]).toEqual([{ outcome: 'refused', because: 'too_many' }, expect.any(Array)])
    expect(names(setup)).toHaveLength(SEARCHES_MAX)
    expect(names(setup)).toContain(`no. ${SEARCHES_MAX}`)
  })

  test('renames the search: the last name stands', async () => {
    const setup = await setUp()
    await setup.admin.changeSearch('a', { id: idOf(1), to: search('Errors') })
    const rename = (name: string) => ({ id: idOf(1), to: { name } })
    const first = () => setup.admin.changeSearch('a', rename('First'))
    expect(await overtaken(setup, first).changeSearch('a', rename('Last'))).toMatchObject({ outcome: 'changed' })
    expect(names(setup)).toEqual(['Last'])
  })

  test('deletes the search, and a third renames what the first is about to take back: it stays deleted', async () => {
    const setup = await setUp()
    const rename = (name: string) => ({ id: idOf(1), to: { name } })
    await setup.admin.changeSearch('a', { id: idOf(1), to: search('Errors') })
    const [isTakenBack, isRenamed, isOver] = [0, 1, 2].map(() => Promise.withResolvers<void>())
    const withAppend = (append: Journal['append']) =>
      createRegistryAdmin({ ...setup, journal: { ...setup.journal, append } })
    const third = withAppend(async (batch) => {
      await isTakenBack?.promise
      await setup.journal.append(batch)
      isRenamed?.resolve()
      await isOver?.promise
    })
    let thirdRenames: Promise<unknown> | undefined
    const first = withAppend(async (batch) => {
      if (thirdRenames === undefined) await setup.admin.changeSearch('a', { id: idOf(1), to: null })
      await setup.journal.append(batch)
      if (thirdRenames !== undefined) isTakenBack?.resolve()
      else thirdRenames = third.changeSearch('a', rename('Third'))
      if (String(batch.records.map(unpacked)[0]?.value) === 'null') await isRenamed?.promise
    })
    const renamed = await first.changeSearch('a', rename('First'))
    isOver?.resolve()
    const refused = { outcome: 'refused', because: 'not_found' }
    expect([renamed, await thirdRenames, names(setup)]).toEqual([refused, refused, []])
  })
})
