import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from './use-keys.ts'

interface PopoverProps {
  /** The content of the button. */
  readonly label: ComponentChildren
  /** The button's accessible name, if its content is not text. */
  readonly name?: string
  readonly class?: string
  readonly title?: string
  /** The edge of the button that the content is aligned with. */
  readonly align?: 'start' | 'end'
  /** Renders the content; receives a function that closes it. */
  readonly children: (close: () => void) => ComponentChildren
}

/** A button that opens content above the page; Escape, a click elsewhere or leaving it with the focus closes it. */
export function Popover({ label, name, class: look = 'button', title, align = 'start', children }: PopoverProps) {
  const [open, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const close = (): void => {
    setOpen(false)
    root.current?.querySelector('button')?.focus()
  }
  useKeys({ Escape: { what: 'Close', run: close } }, open)
  useEffect(() => {
    if (!open) return
    const leave = ({ target }: Event): void => {
      // A dialog comes above the content and goes again, as that of a session that is over: what was typed stays.
      if (!root.current?.contains(target as Node) && (target as Element).closest('dialog') === null) setOpen(false)
    }
    document.addEventListener('pointerdown', leave)
    document.addEventListener('focusin', leave)
    return () => {
      document.removeEventListener('pointerdown', leave)
      document.removeEventListener('focusin', leave)
    }
  }, [open])
  return (
    <div class="popover" ref={root}>
      <button
        type="button"
        class={look}
        aria-expanded={open}
        aria-label={name}
        title={title}
        onClick={() => setOpen(!open)}
      >
        {label}
      </button>
      {open && (
        <div class={`menu ${align}`} ref={intoSight}>
          {children(close)}
        </div>
      )}
    </div>
  )
}

/** Distance that a popover keeps from both edges of the window, in pixels. */
const EDGE = 8

/** Moves a popover sideways if it would leave the window, wherever its button is. */
function intoSight(popover: HTMLElement | null): void {
  if (popover === null) return
  const { left, right } = popover.getBoundingClientRect()
  const over = right + EDGE - document.documentElement.clientWidth
  popover.style.translate = `${Math.max(EDGE - left, Math.min(0, -over))}px`
}
