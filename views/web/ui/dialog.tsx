import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface DialogProps {
  readonly title: string
  readonly wide?: boolean
  /** Called on Escape, on the closing button and on a click beside the dialog; without it the dialog stays. */
  readonly onClose?: () => void
  readonly children: ComponentChildren
}

/** A modal dialog; it is open while it is drawn, and gives the focus back where it was. */
export function Dialog({ title, wide = false, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  // As soon as it is drawn: what one types next is for the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement
    ref.current?.showModal()
    return () => {
      // Nothing behind the dialog takes the focus before it is gone.
      if (before instanceof HTMLElement) queueMicrotask(() => before.focus())
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class={wide ? 'wide' : undefined}
      aria-label={title}
      // Not by `cancel`: browsers let nobody stop the second one in a row.
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.preventDefault()
        onClose?.()
      }}
      // There are other ways to close one, such as a gesture.
      onClose={onClose ?? (() => ref.current?.showModal())}
      onPointerDown={({ target }) => {
        if (target === ref.current) onClose?.()
      }}
    >
      <div class="head">
        <h2 class="grow">{title}</h2>
        {onClose !== undefined && (
          <button type="button" class="button quiet icon" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
      </div>
      <div class="body">{children}</div>
    </dialog>
  )
}
