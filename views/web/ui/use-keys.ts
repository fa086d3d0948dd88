import { useLayoutEffect, useRef } from 'preact/hooks'

interface KeyAction {
  /** The words of the help: `Search`, `Next error`. */
  readonly what: string
  /** Returning false passes the key on to the map before. */
  readonly run: () => unknown
}

/** Actions by `KeyboardEvent.key`: `/`, `j`, `N`, `Enter`, `Escape`, `ArrowDown`. */
export type KeyMap = Readonly<Record<string, KeyAction>>

/** The maps in use, the last one asked first: Escape closes the part that was opened last. */
const maps: { current: KeyMap }[] = []

/** Takes these keys while the component is there and `on`. They do nothing while one types, but for Escape. */
export function useKeys(map: KeyMap, on = true): void {
  const ref = useRef(map)
  ref.current = map
  // As soon as it is drawn: who opens something with a key may close it with the next.
  useLayoutEffect(() => {
    if (!on) return
    maps.push(ref)
    return () => void maps.splice(maps.indexOf(ref), 1)
  }, [on])
}

/** Every key that does something now, with what it does. */
export function keysInUse(): readonly (readonly [key: string, what: string])[] {
  const all = Object.assign({}, ...maps.map(({ current }) => current)) as KeyMap
  return Object.entries(all).map(([key, { what }]) => [key, what])
}

const TYPING = 'input:not([type=checkbox],[type=radio],[type=button]),textarea,select,[contenteditable]'

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
  const { key, target } = event
  if (!(target instanceof Element)) return
  if (key !== 'Escape' && target.closest(TYPING) !== null) return
  // Enter and the space bar belong to what has the focus; an open dialog has all keys to itself.
  if ((key === 'Enter' || key === ' ') && target.closest('a,button,summary,[role=button]') !== null) return
  if (document.querySelector('dialog[open]') !== null) return
  for (const { current } of maps.toReversed()) {
    const action = current[key]
    if (action === undefined || action.run() === false) continue
    event.preventDefault()
    return
  }
}

document.addEventListener('keydown', onKeyDown)
