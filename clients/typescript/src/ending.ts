export interface Ending {
  /** Node has nothing left to do: work that is begun now keeps it alive. */
  readonly onIdle: () => void
  /** Node ends: nothing asynchronous is carried out any more. */
  readonly onExit: () => void
  /** The page is hidden, and may be gone without another sign. */
  readonly onHidden: () => void
}

interface Page {
  readonly document?: EventTarget & { readonly visibilityState: string }
  readonly addEventListener?: EventTarget['addEventListener']
  readonly removeEventListener?: EventTarget['removeEventListener']
}

/** Watches for the end of a process or a page; gives back what ends the watch. */
export function watchEnding({ onIdle, onExit, onHidden }: Ending): () => void {
  const { process } = globalThis as { process?: NodeJS.Process }
  const page = globalThis as Page
  const { document } = page
  const onVisibility = (): void => {
    if (document?.visibilityState === 'hidden') onHidden()
  }
  // Once: an application that logs whenever the process is idle would keep it alive for ever.
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
