import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useEvery } from './use-every.ts'

const RETRY_MS = 5_000

/** A rarely needed part of the page, whose script is loaded when the part is first shown. */
export function part<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function Part(props) {
    const [state, setState] = useState<'loading' | 'there' | 'failed'>(loaded === undefined ? 'loading' : 'there')
    const run = (): void =>
      void load().then(
        (component) => {
          loaded = component
          setState('there')
        },
        () => setState('failed'),
      )
    useEffect(() => {
      if (state === 'loading') run()
    }, [])
    // The server may have been away.
    useEvery(RETRY_MS, run, state === 'failed')
    if (loaded !== undefined) {
      const Loaded = loaded
      return <Loaded {...props} />
    }
    if (state === 'loading') return <div class="busy grow" />
    return (
      <div class="notice bad grow" role="alert">
        <span>This part of the page could not be loaded. The server may be another version by now.</span>
        <button type="button" class="button small" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    )
  }
}
