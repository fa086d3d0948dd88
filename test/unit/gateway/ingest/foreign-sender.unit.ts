import { describe, expect, test } from 'vitest'
import { createProjectFinder } from '../../../../gateway/ingest/foreign-sender.ts'
import { registryOf } from '../../../support/registry-topic.ts'

const id = (digit: number): string => `3f2504e0-4f89-11d3-9a0c-0305e82c330${digit}`
const [CHECKOUT, STOCK, OLD, OTHER, PRACTICE] = [id(1), id(2), id(3), id(4), id(7)]

/** Finds Projects of a Team with two of them, one of which is for unknown services. */
function finderOf(defaultProject: string | null, archived = '') {
  const registry = registryOf(`
teams: [{ id: shop${defaultProject === null ? '' : `, defaultProject: ${defaultProject}`} }, { id: other }]
projects:
  - { id: ${CHECKOUT}, team: shop, name: Checkout }
  - { id: ${STOCK}, team: shop, name: Stock${archived} }
  - { id: ${id(5)}, team: shop, name: Twin }
  - { id: ${id(6)}, team: shop, name: Twin }
  - { id: ${OLD}, team: shop, name: Old, archived: true }
  - { id: ${OTHER}, team: other, name: Other }
  - { id: ${PRACTICE}, team: shop, name: Übung 100% }
`)
  const team = registry.team('shop')
  if (team === undefined) throw new Error('the Team is missing')
  return createProjectFinder(team, registry, 'Name it.')
}

const WAY_OUT = 'name a Project for unknown services'

describe('a Team that names a Project for unknown services', () => {
  const projects = finderOf(STOCK)

  test('gets the logs of unknown names and of none there', () => {
    for (const found of [
      projects.byName('nobody'),
      projects.byName('Other'),
      projects.unnamed(),
      projects.byHeader({ 'x-project-id': 'nobody' }),
    ])
      expect(found?.value?.id).toBe(STOCK)
  })

  test('gets those of known names and ids where they belong', () => {
    for (const named of ['checkout', CHECKOUT, CHECKOUT.toUpperCase()])
      expect(projects.byHeader({ 'x-project-id': named })?.value?.id).toBe(CHECKOUT)
    expect(projects.byHeader({})).toBeUndefined()
    expect(projects.byHeader({ 'x-project-id': '' })).toBeUndefined()
  })

  test.each([
    ['UTF-8, which Node reads as Latin-1', Buffer.from('übung 100%').toString('latin1')],
    ['Latin-1', 'Übung 100%'],
    ['percent-encoded', '%C3%9Cbung%20100%25'],
    ['from an address, decoded', 'ÜBUNG 100%'],
    ['with its dots as a character of their own', 'U\u0308bung 100%'],
  ])('gets those of a name that is not ASCII where they belong: %s', (_name, named) => {
    expect(projects.byHeader({ 'x-project-id': named })?.value?.id).toBe(PRACTICE)
  })

  test.each([
    ['an unknown id', id(9)],
    ["another Team's id", OTHER],
    ['the name of two', 'twin'],
    ['an archived one', 'old'],
    ['the id of an archived one', OLD],
  ])('has %s refused all the same', (_name, named) => {
    const problem = projects.byHeader({ 'x-project-id': named })?.problem
    expect(problem?.code).toBe('project_not_found')
    expect(problem?.message).not.toContain(WAY_OUT)
  })
})

describe('a Team that names none', () => {
  test('has unknown names refused, and is told of this way out', () => {
    const projects = finderOf(null)
    const unknown = projects.byName('nobody').problem
    expect([unknown?.code, unknown?.message]).toEqual(['project_not_found', expect.stringContaining(WAY_OUT)])
    const other = projects.byHeader({ 'x-project-id': Buffer.from('Größe').toString('latin1') })?.problem
    expect(other?.message).toContain('No Project of the Team is named "Größe".')
    const none = projects.unnamed().problem
    expect([none?.code, none?.message]).toEqual(['missing_project_id', expect.stringContaining(WAY_OUT)])
  })
})
