import { isShardOf, type RebuiltMeta } from './checkpoints.ts'
import type { Connection } from './connection.ts'
import { askVisible } from './hidden-indices.ts'
import type { IndexNames } from './index-names.ts'
import { LENIENT } from './searcher.ts'

/** An index that a rebuild has made, and that is not found by its name any more, as after a restore without aliases. */
export interface LostAlias {
  readonly index: string
  /** The alias that it should have. */
  readonly name: string
  /** The index that has taken its name, as a write makes it; undefined if there is none. */
  readonly taker: string | undefined
}

interface Found {
  readonly aliases?: Readonly<Record<string, object>>
  readonly settings?: { readonly index: { readonly uuid: string; readonly creation_date: string } }
  readonly mappings?: { readonly _meta: RebuiltMeta }
}
type IndexAnswer = Readonly<Record<string, Found>>
const FACTS = '*.aliases,*.settings.index.uuid,*.settings.index.creation_date'

const ask = (connection: Connection, pattern: string, fields: string) =>
  askVisible<IndexAnswer>(connection, pattern, (indices) => ({
    method: 'GET',
    path: `/${indices}`,
    query: { ...LENIENT, expand_wildcards: 'open,closed', filter_path: fields },
  }))

/** The indices that no read finds, as somebody took their aliases; those of a rebuild that has not ended are none. */
export async function findLostAliases(connection: Connection, names: IndexNames): Promise<readonly LostAlias[]> {
  const lacksName = ([index, found]: [string, Found]): boolean =>
    !namesOf(index, found).includes(names.nameOf(index) ?? index)
  // Mostly there are none, which the aliases of a few indices tell; who has taken a name is only known from all of them.
  const { answer: rebuilt } = await ask(connection, names.generations, FACTS)
  if (!Object.entries(rebuilt).some(lacksName)) return []
  const all = `${names.all()},${names.flows},${names.generations}`
  const { answer, hidden } = await ask(connection, all, `${FACTS},*.mappings._meta.origins`)
  const holderOf = new Map(
    Object.entries(answer).flatMap(([index, found]) => namesOf(index, found).map((name) => [name, index] as const)),
  )
  // An index that hides its metadata may have the name, as while a rebuild copies it.
  const unclear = new Set(hidden.map((index) => names.nameOf(index)))
  const lost = new Map<string, LostAlias>()
  // Of several generations the first, as a rebuild removes it only once the next one is whole.
  for (const index of Object.keys(answer).toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))) {
    const name = names.nameOf(index)
    if (name === undefined || unclear.has(name) || namesOf(index, answer[index]).includes(name) || lost.has(name))
      continue
    const taker = holderOf.get(name)
    if (taker === undefined || !isBeingMade(answer, index, taker)) lost.set(name, { index, name, taker })
  }
  return [...lost.values()]
}

const namesOf = (index: string, found: Found | undefined): readonly string[] => [
  index,
  ...Object.keys(found?.aliases ?? {}),
]

/** Whether the index is the copy that a rebuild fills or has just filled from the other one. */
function isBeingMade(answer: IndexAnswer, index: string, from: string): boolean {
  const origins = answer[index]?.mappings?._meta.origins ?? []
  const { uuid = '', creation_date: taken } = answer[from]?.settings?.index ?? {}
  // A copy is made after its original. The copy of the flows has no origins, whether or not it is whole.
  if (Number(taken) > Number(answer[index]?.settings?.index.creation_date)) return false
  return origins.length === 0 || origins.some(({ key }) => isShardOf(uuid, key))
}

/** Tells an operator what is wrong and how to mend it. */
export function lostAliasText({ index, name, taker }: LostAlias): string {
  const remedy =
    taker === undefined
      ? '`sluice indices apply` puts it back'
      : `put the alias in the place of the index ${name} (POST /_aliases with remove_index and add), and rebuild the view \`--from topics\` for the entries of that one`
  return `${index} has lost its alias ${name}, so no read shows its entries: ${remedy}`
}

/** Gives the indices their aliases back; returns a line for each, also where another index has the name. */
export async function putAliasesBack(connection: Connection, lost: readonly LostAlias[]): Promise<readonly string[]> {
  const actions = lost
    .filter(({ taker }) => taker === undefined)
    .map(({ index, name: alias }) => ({ add: { index, alias } }))
  if (actions.length > 0) await connection.send({ method: 'POST', path: '/_aliases', body: { actions } })
  return lost.map((each) =>
    each.taker === undefined ? `corrected: ${each.index} has its alias ${each.name} again` : lostAliasText(each),
  )
}

/**
 * Tells of open indices that reads find beside the one that has the name of a day or of the flows, as a clone, or one restored under another
 * name together with its alias; a sentence each. Reads cannot leave them out: a query for the names of indices also goes by all aliases.
 */
export async function findSurplus(connection: Connection, names: IndexNames): Promise<readonly string[]> {
  const read = `${names.all()},${names.flows}`
  const { answer } = await askVisible<IndexAnswer>(connection, read, (indices) => ({
    method: 'GET',
    path: `/${indices}/_alias`,
    query: { ...LENIENT, expand_wildcards: 'open' },
  }))
  const found = Object.entries(answer).flatMap(([index, each]) => {
    // An index of any name may stand for a day by its alias alone.
    const held = [...new Set(namesOf(index, each).flatMap((name) => names.nameOf(name) ?? []))]
    return (held.length === 0 ? [null] : held).map((name) => ({ index, name }))
  })
  return [...Map.groupBy(found, ({ name }) => name)].flatMap(([name, those]) => {
    const indices = those
      .map(({ index }) => index)
      .toSorted()
      .join(' and ')
    if (name === null) return `reads find ${indices} in the place of no day: ${REMOVE}`
    return those.length > 1 ? `reads find ${indices} for ${name}: of all but one, ${REMOVE}` : []
  })
}

const REMOVE = 'close the index, or remove it or its alias'
