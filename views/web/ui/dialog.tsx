import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { IconButton } from './button.tsx'

interface DialogProps {
  readonly title: string
  readonly wide?: boolean
  /**
   * Called on Escape, on the close button and on a click outside the dialog, unless a field of a form was changed; without it, the dialog
   * cannot be closed.
   */
  readonly onClose?: () => void
  readonly children: ComponentChildren
}

/** The element to which a closing dialog returns the focus, for the dialog that takes its place. */
let left: Element | null = null

/** A modal dialog, open while rendered; its first field has the focus, or else its primary button. On closing, it returns the focus. */
export function Dialog({ title, wide = false, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const isChanged = useRef(false)
  // A layout effect, so that keys typed next go to the dialog.
  useLayoutEffect(() => {
    const before = left ?? document.activeElement
    ref.current?.showModal()
    // Without this, the close button has the focus, as the first of all.
    ref.current?.querySelector<HTMLElement>('.body :is(input, select, textarea, .primary)')?.focus()
    return () => {
      left = before
      // Elements behind the dialog cannot be focused until it is gone.
      queueMicrotask(() => {
        left = null
        // The button that opened the dialog is gone if its line was deleted there.
        const to = before?.isConnected ? before : document.getElementById('main')
        if (to instanceof HTMLElement) to.focus({ preventScroll: true })
      })
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class={wide ? 'wide' : undefined}
      aria-label={title}
      // Not `cancel`: browsers do not let a page prevent it twice in a row.
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.preventDefault()
        onClose?.()
      }}
      // A dialog can also be closed otherwise, such as by a gesture.
      onClose={onClose ?? (() => ref.current?.showModal())}
      onInput={({ target }) => {
        isChanged.current ||= (target as HTMLInputElement).form !== null
      }}
      onPointerDown={({ target }) => {
        if (target === ref.current && !isChanged.current) onClose?.()
      }}
    >
      <div class="head">
        <h2 class="grow">{title}</h2>
        {onClose !== undefined && <IconButton icon="close" class="quiet" label="Close" onClick={onClose} />}
      </div>
      <div class="body">{children}</div>
    </dialog>
  )
}
