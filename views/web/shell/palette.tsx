import { useEffect, useRef, useState } from 'preact/hooks'
import { systemClock } from '../../../shared/runtime/clock.ts'
import { nameOf } from '../../flow-layout/flow-log.ts'
import { visible } from '../../flow-layout/format.ts'
import { PAGES } from '../../pages.ts'
import type { FlowPage, NameList } from '../../schemas/answers.ts'
import type { SavedSearch } from '../../schemas/team.ts'
import { get, type Problem } from '../api/client.ts'
import { signOut } from '../api/session.ts'
import { StateBadge } from '../flow/flow-header.tsx'
import { hasSearch } from '../logs/change-search.ts'
import { listLink } from '../logs/links.ts'
import { searchPatch, useSavedSearches } from '../logs/saved-searches.tsx'
import { copy } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { createStore, useStore } from '../ui/store.ts'
import { setTheme, THEMES } from '../ui/theme.ts'
import { toggleUtc } from '../ui/time.tsx'
import { go } from '../ui/use-address.ts'
import { useKeys } from '../ui/use-keys.ts'
import { openHelp } from './keyboard.tsx'
import { COMMANDS, PALETTE } from './texts.ts'

/** The kind of results in the open palette; null while closed. */
const shown = createStore<'all' | 'flows' | null>(null)

export const openPalette = (what: 'all' | 'flows'): void => shown.set(what)

/** Finds anything by a part of its name, from any page. */
export function Palette() {
  const what = useStore(shown)
  useKeys({
    g: { what: PALETTE.flows.key, run: () => openPalette('flows') },
    'Ctrl+k': { what: PALETTE.all.key, run: () => openPalette('all') },
  })
  return what === null ? null : <Open what={what} />
}

interface Item {
  readonly group: string
  readonly label: string
  /** The identifier shown beside a name. */
  readonly hint?: string
  readonly flow?: FlowPage['items'][number]
  readonly run: () => unknown
}

function Open({ what }: { readonly what: 'all' | 'flows' }) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  /** Enter was pressed before the answer arrived. */
  const isEager = useRef(false)
  const { title, label } = PALETTE[what]
  const sought = text.trim()
  const found = useFound(sought, what)
  const isPending = found?.sought !== sought
  const saved = useSavedSearches(what === 'all').data?.items ?? []
  const local = what === 'all' ? localItems(saved).filter((item) => isNamed(item.label, sought)) : []
  const remote = found === undefined ? [] : remoteItems(found)
  const items =
    sought === ''
      ? [...remote, ...local]
      : [
          ...local,
          ...remote,
          ...(what === 'all' ? logsWith(sought) : []),
          ...(found === undefined ? [] : unseenFlow(found)),
        ]
  const close = (): void => shown.set(null)
  const run = (item: Item | undefined): void => {
    if (item === undefined) return
    close()
    item.run()
  }
  const enter = (): void => {
    if (isPending && chosen === 0 && local.length === 0 && sought !== '') isEager.current = true
    else run(items[chosen])
  }
  const move = (step: number): void => setChosen((chosen + step + items.length) % Math.max(1, items.length))
  useEffect(() => {
    if (isEager.current && !isPending) run(items[chosen])
  }, [found])
  useEffect(() => document.getElementById(idOf(chosen))?.scrollIntoView({ block: 'nearest' }), [chosen])
  return (
    <Dialog title={title} onClose={close}>
      <div class="stack palette">
        <input
          class="input mono"
          type="text"
          role="combobox"
          aria-label={label}
          aria-expanded
          aria-controls="palette"
          aria-autocomplete="list"
          aria-activedescendant={items.length > 0 ? idOf(chosen) : undefined}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder={label}
          maxLength={SOUGHT_MAX}
          value={text}
          onInput={({ currentTarget }) => {
            isEager.current = false
            setText(currentTarget.value)
            setChosen(0)
          }}
          onKeyDown={(event) => {
            const act = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Enter: enter }[event.key]
            if (act === undefined || event.isComposing) return
            event.preventDefault()
            act()
          }}
        />
        {/* Not `Failed`, which leaves an unreachable server to the banner: that is behind this dialog. */}
        {found?.problem && <p class="notice bad">{found.problem.message}</p>}
        <div id="palette" role="listbox" aria-label={PALETTE.results}>
          {[...Map.groupBy(items, ({ group }) => group)].map(([group, own]) => (
            <Group key={group} name={group} items={own} all={items} chosen={chosen} run={run} />
          ))}
        </div>
        <p class={items.length > 0 || isPending ? 'hidden' : 'muted'} role="status">
          {isPending ? '' : items.length > 0 ? PALETTE.found(items.length) : PALETTE.nothing}
        </p>
      </div>
    </Dialog>
  )
}

interface GroupProps {
  readonly name: string
  readonly items: readonly Item[]
  readonly all: readonly Item[]
  readonly chosen: number
  readonly run: (item: Item) => void
}

const Group = ({ name, items, all, chosen, run }: GroupProps) => (
  // biome-ignore lint/a11y/useSemanticElements: no fieldset can stand in a listbox
  <div role="group" aria-label={name}>
    <p class="muted small" aria-hidden="true">
      {name}
    </p>
    {items.map((item) => {
      const index = all.indexOf(item)
      return (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the box above has the keys
        <div
          key={index}
          id={idOf(index)}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          onClick={() => run(item)}
        >
          <bdi class="cut">{visible(item.label)}</bdi>
          {item.hint !== undefined && <bdi class="cut mono muted small grow">{visible(item.hint)}</bdi>}
          {item.flow && <StateBadge flow={item.flow} />}
        </div>
      )
    })}
  </div>
)

const idOf = (index: number): string => `palette-${index}`

/** Maximum length of a search, and maximum number of results per kind. */
const SOUGHT_MAX = 512
const FOUND_MAX = 6
/** Debounces input, in milliseconds. */
const REST_MS = 150

interface Found {
  readonly sought: string
  readonly flows: FlowPage['items']
  readonly names: NameList
  readonly problem: Problem | undefined
}

const NO_NAMES: NameList = { events: [], projects: [] }

/** The server's answer to a text, requested once typing pauses; the previous answer is shown until then. */
function useFound(sought: string, what: 'all' | 'flows'): Found | undefined {
  const [found, setFound] = useState<Found>()
  useEffect(() => {
    const controller = new AbortController()
    const ask = async (): Promise<void> => {
      const params = { q: sought, limit: FOUND_MAX }
      const [flows, names] = await Promise.all([
        get<FlowPage>('/api/flows', params, controller.signal),
        what === 'all' && sought !== '' ? get<NameList>('/api/names', params, controller.signal) : undefined,
      ])
      if (controller.signal.aborted) return
      setFound({
        sought,
        flows: flows.ok ? flows.data.items : [],
        names: names?.ok ? names.data : NO_NAMES,
        problem: flows.ok ? undefined : flows.problem,
      })
    }
    const timer = setTimeout(ask, sought === '' ? 0 : REST_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [sought])
  return found
}

const toFlow = (key: string) => () => go({ path: ['flows', key] })

/** The flow with exactly the key that is sought, if it is not found: it may have no log, so it comes last. */
function unseenFlow({ sought, flows }: Found): readonly Item[] {
  if (sought === '' || flows.some(({ correlationKey }) => correlationKey === sought)) return []
  return [{ group: PALETTE.groups.exact, label: PALETTE.exactly(sought), run: toFlow(sought) }]
}

/** The flows (an exact match first), then Events and Projects. */
function remoteItems({ sought, flows, names }: Found): readonly Item[] {
  const { groups } = PALETTE
  const known = flows
    .toSorted((a, b) => Number(b.correlationKey === sought) - Number(a.correlationKey === sought))
    .map(
      (flow): Item => ({
        group: sought === '' ? groups.latest : groups.flows,
        label: flow.correlationKey,
        flow,
        run: toFlow(flow.correlationKey),
      }),
    )
  const events = names.events.map(
    ({ identifier, name }): Item => ({
      group: groups.events,
      label: nameOf({ identifier, name }),
      hint: identifier,
      run: () => go({ path: ['event-logs'], params: { event: identifier } }),
    }),
  )
  const projects = names.projects.map(
    ({ id, name }): Item => ({
      group: groups.projects,
      label: name ?? id,
      hint: id,
      run: () => go({ path: ['application-logs'], params: { project: id } }),
    }),
  )
  return [...known, ...events, ...projects]
}

/** Pages, the Team's saved searches, and commands. */
function localItems(saved: readonly SavedSearch[]): readonly Item[] {
  const { pages, searches, commands } = PALETTE.groups
  const command = (label: string, run: () => unknown): Item => ({ group: commands, label, run })
  return [
    ...PAGES.map(({ path, name }): Item => ({ group: pages, label: name, run: () => go({ path: [path] }) })),
    ...saved.map((search): Item => ({ group: searches, label: search.name, run: () => go(searchPatch(search)) })),
    command(COMMANDS.copyLink, () => copy(hasSearch() ? listLink(systemClock.now()) : location.href, 'The link')),
    ...THEMES.map(([theme, name]) => command(COMMANDS.theme(name), () => setTheme(theme))),
    command(COMMANDS.utc, toggleUtc),
    command(COMMANDS.keyboard, openHelp),
    command(COMMANDS.signOut, signOut),
  ]
}

/** The lists of logs, searched for a text. */
const logsWith = (text: string): readonly Item[] =>
  PAGES.filter(({ path }) => path.endsWith('-logs')).map(({ path, name }) => ({
    group: PALETTE.groups.logs,
    label: PALETTE.having(name, text),
    run: () => go({ path: [path], params: { q: text } }),
  }))

const isNamed = (label: string, sought: string): boolean =>
  sought
    .toLowerCase()
    .split(/\s+/)
    .every((word) => label.toLowerCase().includes(word))
