import { useCallback, useState } from 'preact/hooks'
import { go } from '../ui/use-address.ts'

/** The entries of a list that are open or expanded, the one that the keyboard is at, and whether the list is scrolled. */
export interface ListState {
  readonly openId: string | undefined
  readonly currentId: string | undefined
  /** How often a row was given the focus, which it gets once it is drawn. */
  readonly focused: number
  readonly expanded: ReadonlySet<string>
  /** Whether a person reads, further down or an entry, so that nothing may move. */
  readonly paused: boolean
  readonly open: (id: string) => void
  readonly toggle: (id: string) => void
  readonly collapse: () => void
  /** Gives the focus to a row. */
  readonly focus: (id: string) => void
  /** The same by keyboard: an entry that is open beside the list makes way for the one of the row. */
  readonly walk: (id: string) => void
  readonly setScrolled: (scrolled: boolean) => void
  /** Back to where new entries come in. */
  readonly toTop: () => void
}

const NOTHING: ReadonlySet<string> = new Set()

export function useListState(openId: string | undefined): ListState {
  const [currentId, setCurrent] = useState<string>()
  const [focused, setFocused] = useState(0)
  const [scrolled, setScrolled] = useState(false)
  const [expanded, setExpanded] = useState(NOTHING)
  // The same function every time: rows are drawn again only where something about them changes.
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
