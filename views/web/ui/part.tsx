import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { BASE } from './base.ts'
import { Button } from './button.tsx'
import { useEvery } from './use-every.ts'

const RETRY_MS = 5_000

/** Whether the server answers with a page of another build: its shell does not name this script. */
const isReplaced = async (): Promise<boolean> => {
  const answer = await fetch(BASE)
  return answer.ok && !(await answer.text()).includes(new URL(import.meta.url).pathname)
}

/** A rarely needed part of the page, whose script is loaded when the part is first shown. */
export function part<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function Part(props) {
    const [state, setState] = useState<'loading' | 'there' | 'failed' | 'replaced'>(
      loaded === undefined ? 'loading' : 'there',
    )
    const run = (): void =>
      void load().then(
        (component) => {
          loaded = component
          setState('there')
        },
        async () => setState((await isReplaced().catch(() => false)) ? 'replaced' : 'failed'),
      )
    useEffect(() => {
      if (state === 'loading') run()
    }, [])
    // The server may have been away; one of another version does not have the part.
    useEvery(RETRY_MS, run, state === 'failed')
    if (loaded !== undefined) {
      const Loaded = loaded
      return <Loaded {...props} />
    }
    if (state === 'loading') return <div class="busy grow" />
    return (
      <div class="notice bad grow" role="alert">
        <span>This part of the page could not be loaded. The server may be another version by now.</span>
        <Button label="Load the page again" class="small" onClick={() => location.reload()} />
      </div>
    )
  }
}
