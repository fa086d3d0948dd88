import { useLayoutEffect } from 'preact/hooks'
import { useLatest } from './use-latest.ts'

interface KeyAction {
  /** The description in the help: `Search`, `Next error`. */
  readonly what: string
  /** Returning false passes the key on to the previously registered map. */
  readonly run: () => unknown
}

/** Actions by `KeyboardEvent.key`: `/`, `j`, `N`, `Enter`, `Escape`, `ArrowDown`; `Ctrl+k` also matches ⌘K, and works while typing. */
export type KeyMap = Readonly<Record<string, KeyAction>>

/** The registered maps, latest first in precedence: Escape closes the part that was opened last. */
const maps: { current: KeyMap }[] = []

/** Handles these keys while the component is mounted and `on`. While the user types, only Escape and Ctrl keys work. */
export function useKeys(map: KeyMap, on = true): void {
  const ref = useLatest(map)
  // A layout effect, so that a part opened with one key can be closed with the next.
  useLayoutEffect(() => {
    if (!on) return
    maps.push(ref)
    return () => void maps.splice(maps.indexOf(ref), 1)
  }, [on])
}

/** Moves the focus along these elements from the one that has it, or else to the first. */
export function walk(selector: string, step: 1 | -1): void {
  const elements = [...document.querySelectorAll<HTMLElement>(selector)]
  elements[Math.max(0, elements.indexOf(document.activeElement as HTMLElement) + step)]?.focus()
}

/** Every key that currently does something, with its description. */
export function keysInUse(): readonly (readonly [key: string, what: string])[] {
  const all = Object.assign({}, ...maps.map(({ current }) => current)) as KeyMap
  return Object.entries(all).map(([key, { what }]) => [key, what])
}

const NAMES: Readonly<Record<string, string>> = {
  Escape: 'Esc',
  'Ctrl+k': /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘K' : 'Ctrl K',
}

export const keyName = (key: string): string => NAMES[key] ?? key

const TYPING = 'input:not([type=checkbox],[type=radio],[type=button]),textarea,select,[contenteditable]'

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return
  const { target } = event
  const isCommand = event.ctrlKey || event.metaKey
  const key = isCommand ? `Ctrl+${event.shiftKey ? event.key : event.key.toLowerCase()}` : event.key
  if (!(target instanceof Element)) return
  const field = isCommand ? null : target.closest<HTMLElement>(TYPING)
  if (key !== 'Escape' && field !== null) return
  // Enter and Space belong to the focused element; an open dialog handles all keys itself.
  if ((key === 'Enter' || key === ' ') && target.closest('a,button,summary,[role=button]') !== null) return
  if (document.querySelector('dialog[open]') !== null) return
  // A menu closes together with its fields; browsers would empty a field of a search.
  if (field !== null && field.closest('.popover') === null) {
    field.blur()
    event.preventDefault()
    return
  }
  for (const { current } of maps.toReversed()) {
    const action = current[key]
    if (action === undefined || action.run() === false) continue
    event.preventDefault()
    return
  }
}

document.addEventListener('keydown', onKeyDown)
