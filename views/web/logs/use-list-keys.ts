import type { Entry } from '../../schemas/answers.ts'
import { copy } from '../ui/copy.tsx'
import { go } from '../ui/use-address.ts'
import { useKeys } from '../ui/use-keys.ts'
import { changeSearch } from './change-search.ts'
import { copyJson } from './entry-actions.tsx'
import { sourceOf } from './facts.ts'
import { listLink } from './links.ts'
import type { ListState } from './use-list-state.ts'
import type { LogRows } from './use-rows.ts'

interface ListKeys {
  readonly list: LogRows
  readonly state: ListState
  readonly onLive: () => void
  /** Whether the list is visible; the keys for its logs do nothing beside groups or a chart. */
  readonly isShown: boolean
}

/** The keys of a list. Those of an open entry take precedence. */
export function useListKeys({ list, state, onLive, isShown }: ListKeys): void {
  const { entries } = list.rows
  const index = entries.findIndex(({ id }) => id === state.currentId)
  const current = entries[index]
  const move = (step: number) => {
    const next = entries[index === -1 ? 0 : index + step]
    return next === undefined ? false : state.walk(next.id)
  }
  const withCurrent = (run: (entry: Entry) => unknown) => () => (current === undefined ? false : run(current))
  useKeys({
    '/': { what: 'Search', run: () => document.getElementById('search')?.focus() },
    l: { what: 'Copy the link', run: () => copy(listLink(list.askedAt), 'The link') },
    t: { what: 'Live', run: onLive },
    r: { what: 'Read again', run: list.reload },
  })
  useKeys(
    {
      j: { what: 'Next log', run: () => move(1) },
      k: { what: 'Previous log', run: () => move(-1) },
      Enter: { what: 'Open the log beside the list', run: withCurrent(({ id }) => state.open(id)) },
      x: {
        what: 'Leave out logs like this',
        run: withCurrent((entry) => changeSearch('with', `-${sourceOf(entry).term}`)),
      },
      c: { what: 'Copy the JSON', run: withCurrent(copyJson) },
      f: {
        what: 'Open the flow',
        run: withCurrent(({ correlationKey }) => correlationKey !== null && go({ path: ['flows', correlationKey] })),
      },
      Escape: { what: 'Close', run: () => state.expanded.size > 0 && state.collapse() },
    },
    isShown,
  )
}
