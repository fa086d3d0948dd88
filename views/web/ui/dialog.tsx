import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

export interface DialogProps {
  readonly title: string
  readonly wide?: boolean
  /** Called on Escape, on the closing button and on a click beside the dialog. */
  readonly onClose: () => void
  /** Names the closing button where closing does more than to close. */
  readonly closeLabel?: string
  readonly children: ComponentChildren
}

/** A modal dialog; it is open while it is drawn, and gives the focus back where it was. */
export function Dialog({ title, wide = false, onClose, closeLabel, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    const dialog = ref.current
    if (dialog !== null && !dialog.open) dialog.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class={wide ? 'wide' : undefined}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onPointerDown={({ target }) => {
        if (target === ref.current && closeLabel === undefined) onClose()
      }}
    >
      <div class="head">
        <h2 class="grow">{title}</h2>
        <button
          type="button"
          class={closeLabel === undefined ? 'button quiet icon' : 'button quiet'}
          aria-label={closeLabel === undefined ? 'Close' : undefined}
          onClick={onClose}
        >
          {closeLabel ?? <Icon name="close" />}
        </button>
      </div>
      <div class="body">{children}</div>
    </dialog>
  )
}
