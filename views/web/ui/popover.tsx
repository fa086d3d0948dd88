import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from './use-keys.ts'

interface PopoverProps {
  /** The content of the button. */
  readonly label: ComponentChildren
  /** The button's name, where what it shows is no text. */
  readonly name?: string
  readonly class?: string
  readonly title?: string
  /** The edge of the button that the content lines up with. */
  readonly align?: 'start' | 'end'
  /** Makes the content; it is given what closes it. */
  readonly children: (close: () => void) => ComponentChildren
}

/** A button that opens something above the page: closed by Escape, by a click elsewhere, or when the focus leaves it. */
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
      if (!root.current?.contains(target as Node)) setOpen(false)
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
      {open && <div class={`menu ${align}`}>{children(close)}</div>}
    </div>
  )
}
