import { useCallback, useState } from 'preact/hooks'
import type { Entry } from '../../schemas/answers.ts'
import { go } from '../ui/use-address.ts'

/** The open and expanded entries of a list, the row with the keyboard focus, and whether the list is scrolled. */
export interface ListState {
  readonly openId: string | undefined
  readonly currentId: string | undefined
  /** Counts focus requests; the row receives the focus once it is drawn. */
  readonly focused: number
  readonly expanded: ReadonlySet<string>
  /** Whether the reader is further down or reading an entry, so that nothing may move. */
  readonly paused: boolean
  readonly open: (id: string) => void
  readonly toggle: (id: string) => void
  readonly collapse: () => void
  /** Collapses what is not among these entries, as nobody reads a row that is gone. */
  readonly keepExpanded: (entries: readonly Entry[]) => void
  /** Makes a row the one that the keys go on from. */
  readonly point: (id: string) => void
  readonly focus: (id: string) => void
  /** The same by keyboard: an entry open beside the list is replaced by the row's. */
  readonly walk: (id: string) => void
  readonly setScrolled: (scrolled: boolean) => void
  /** Scrolls back to the top, where new entries appear. */
  readonly toTop: () => void
}

const NOTHING: ReadonlySet<string> = new Set()

export function useListState(openId: string | undefined): ListState {
  const [currentId, setCurrent] = useState<string>()
  const [focused, setFocused] = useState(0)
  const [scrolled, setScrolled] = useState(false)
  const [expanded, setExpanded] = useState(NOTHING)
  // A stable reference, so that rows are redrawn only when their own data changes.
  const open = useCallback((id: string): void => {
    setCurrent(id)
    setExpanded((before) => without(before, id))
    go({ params: { id } })
  }, [])
  const focus = (id: string): void => {
    setCurrent(id)
    setFocused((count) => count + 1)
  }
  const collapse = (): void => setExpanded(NOTHING)
  return {
    openId,
    currentId,
    focused,
    expanded,
    paused: scrolled || expanded.size > 0 || openId !== undefined,
    open,
    toggle: (id) => {
      setCurrent(id)
      setExpanded((before) => (before.has(id) ? without(before, id) : new Set([...before, id])))
    },
    collapse,
    keepExpanded: (entries) =>
      setExpanded((before) => {
        const kept = entries.flatMap(({ id }) => (before.has(id) ? [id] : []))
        return kept.length === before.size ? before : new Set(kept)
      }),
    point: setCurrent,
    focus,
    walk: (id) => {
      focus(id)
      if (openId !== undefined) go({ params: { id } }, 'replace')
    },
    setScrolled,
    toTop: () => {
      collapse()
      scrollTo(0, 0)
    },
  }
}

const without = (ids: ReadonlySet<string>, id: string): ReadonlySet<string> =>
  new Set([...ids].filter((each) => each !== id))
