import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** A component whose code is fetched when it is first shown, or when `load` is called before. */
export interface Lazy<Props> {
  (props: Props): preact.JSX.Element | null
  load(): Promise<unknown>
}

export function lazy<Props extends object>(fetchCode: () => Promise<ComponentType<Props>>): Lazy<Props> {
  let loading: Promise<ComponentType<Props>> | undefined
  let loaded: ComponentType<Props> | undefined

  const load = async (): Promise<void> => {
    if (loaded !== undefined) return
    loading ??= fetchCode()
    // What failed is tried again by whoever shows it next.
    loaded = await loading.finally(() => (loading = undefined))
  }

  function Shown(props: Props) {
    const [state, setState] = useState<'loading' | 'shown' | 'failed'>(loaded === undefined ? 'loading' : 'shown')
    useEffect(() => {
      if (loaded === undefined)
        load().then(
          () => setState('shown'),
          () => setState('failed'),
        )
    }, [])
    const Component = loaded
    if (Component !== undefined) return <Component {...props} />
    if (state !== 'failed') return null
    return (
      <p class="empty" role="alert">
        This part of the page could not be loaded. The server is away, or was updated meanwhile.{' '}
        <button type="button" class="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </p>
    )
  }

  return Object.assign(Shown, { load })
}
