import { useEffect, useState } from 'preact/hooks'
import { Icon } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { createStore, useStore } from './store.ts'
import { toast } from './toast.tsx'

/** The text that could not be copied, shown for manual copying. */
const uncopied = createStore<string | null>(null)

/**
 * Copies a text and confirms it; `what` names the text: "The link", "The message". The clipboard API exists on https and localhost only;
 * elsewhere a selection is copied, and if that fails too, the text is shown.
 */
export async function copy(text: string, what?: string): Promise<boolean> {
  const done = (await viaClipboard(text)) || viaSelection(text)
  if (!done) uncopied.set(text)
  else if (what !== undefined) toast(`${what} was copied.`)
  return done
}

async function viaClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

function viaSelection(text: string): boolean {
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'hidden'
  // Text outside an open dialog cannot be selected.
  ;(document.querySelector('dialog[open]') ?? document.body).append(area)
  area.select()
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    area.remove()
    if (focused instanceof HTMLElement) focused.focus()
  }
}

/** Shows a text that could not be copied; rendered once, by the shell. */
export function Uncopied() {
  const text = useStore(uncopied)
  if (text === null) return null
  return (
    <Dialog title="Copy this text" onClose={() => uncopied.set(null)}>
      <div class="stack">
        <p class="muted">Your browser does not let this page copy. Press Ctrl+C, or ⌘C on a Mac.</p>
        <textarea
          class="input mono"
          rows={8}
          readOnly
          aria-label="Text to copy"
          onFocus={({ currentTarget }) => currentTarget.select()}
        >
          {text}
        </textarea>
      </div>
    </Dialog>
  )
}

interface CopyProps {
  /** The text, or a function that creates it on demand. */
  readonly text: string | (() => string)
  /** The button's name: "Copy the key". */
  readonly label: string
  /** Whether the name is shown beside the icon. */
  readonly named?: boolean
  readonly class?: string
}

const CONFIRMED_MS = 1_600

/** A button that copies, and confirms it in place. */
export function Copy({ text, label, named = false, class: look = 'button quiet small' }: CopyProps) {
  const [done, setDone] = useState(false)
  useEffect(() => {
    if (!done) return
    const timer = setTimeout(() => setDone(false), CONFIRMED_MS)
    return () => clearTimeout(timer)
  }, [done])
  const run = async (): Promise<void> => setDone(await copy(typeof text === 'string' ? text : text()))
  return (
    <button
      type="button"
      class={named ? look : `${look} icon`}
      onClick={run}
      aria-label={named ? undefined : label}
      title={named ? undefined : label}
    >
      <Icon name={done ? 'check' : 'copy'} />
      {named && (done ? 'Copied' : label)}
      <span class="hidden" role="status">
        {done && !named ? 'Copied' : ''}
      </span>
    </button>
  )
}
