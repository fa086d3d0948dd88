interface Ending {
  /** Node has nothing left to do; asynchronous work started now keeps it alive. */
  readonly onIdle: () => void
  /** Node is exiting; no asynchronous work runs any more. */
  readonly onExit: () => void
  /** The page is hidden, and may be closed without further notice. */
  readonly onHidden: () => void
}

interface Page {
  readonly document?: EventTarget & { readonly visibilityState: string }
  readonly addEventListener?: EventTarget['addEventListener']
  readonly removeEventListener?: EventTarget['removeEventListener']
}

/** Whether this is a page that may be gone at any moment: all that is still certain to run is the current task. */
export const isHidden = (): boolean => (globalThis as Page).document?.visibilityState === 'hidden'

/** Watches for the end of a process or a page; returns a function that stops watching. */
export function watchEnding({ onIdle, onExit, onHidden }: Ending): () => void {
  const { process } = globalThis as { process?: NodeJS.Process }
  const page = globalThis as Page
  const { document } = page
  const onVisibility = (): void => {
    if (isHidden()) onHidden()
  }
  // Only once: an application that logs on every `beforeExit` would otherwise keep the process alive forever.
  process?.once?.('beforeExit', onIdle)
  process?.on?.('exit', onExit)
  document?.addEventListener('visibilitychange', onVisibility)
  if (document !== undefined) page.addEventListener?.('pagehide', onHidden)
  return () => {
    process?.off?.('beforeExit', onIdle)
    process?.off?.('exit', onExit)
    document?.removeEventListener('visibilitychange', onVisibility)
    if (document !== undefined) page.removeEventListener?.('pagehide', onHidden)
  }
}
