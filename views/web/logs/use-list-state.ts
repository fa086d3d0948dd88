import { useCallback, useState } from 'preact/hooks'
import { go } from '../ui/use-address.ts'

/** The entries of a list that are open or expanded, the one that the keyboard is at, and whether the list is scrolled. */
export interface ListState {
  readonly openId: string | undefined
  readonly currentId: string | undefined
  readonly expanded: ReadonlySet<string>
  /** Whether a person reads, further down or an entry, so that nothing may move. */
  readonly paused: boolean
  readonly open: (id: string) => void
  readonly toggle: (id: string) => void
  readonly collapse: () => void
  readonly setCurrent: (id: string) => void
  readonly setScrolled: (scrolled: boolean) => void
  /** Back to where new entries come in. */
  readonly toTop: () => void
}

const NOTHING: ReadonlySet<string> = new Set()

export function useListState(openId: string | undefined): ListState {
  const [currentId, setCurrent] = useState<string>()
  const [scrolled, setScrolled] = useState(false)
  const [expanded, setExpanded] = useState(NOTHING)
  // The same function every time: rows are drawn again only where something about them changes.
  const open = useCallback((id: string): void => {
    setCurrent(id)
    setExpanded((before) => without(before, id))
    go({ params: { id } })
  }, [])
  const collapse = (): void => setExpanded(NOTHING)
  return {
    openId,
    currentId,
    expanded,
    paused: scrolled || expanded.size > 0 || openId !== undefined,
    open,
    toggle: (id) => {
      setCurrent(id)
      setExpanded((before) => (before.has(id) ? without(before, id) : new Set([...before, id])))
    },
    collapse,
    setCurrent: (id) => {
      setCurrent(id)
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
