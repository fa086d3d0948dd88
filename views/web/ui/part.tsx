import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { BASE } from './base.ts'
import { NoAnswer } from './busy.tsx'
import { Button } from './button.tsx'
import { useEvery } from './use-every.ts'

const RETRY_MS = 5_000

/** The reason why a script could not be loaded: no server answers, or it is of another build, whose shell does not name this script. */
async function reason(): Promise<'away' | 'replaced' | 'failed'> {
  const answer = await fetch(BASE).catch(() => undefined)
  if (!answer?.ok) return 'away'
  return (await answer.text()).includes(new URL(import.meta.url).pathname) ? 'failed' : 'replaced'
}

/** A rarely needed part of the page, whose script is loaded when the part is first shown. */
export function part<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function Part(props) {
    const [state, setState] = useState<'loading' | 'there' | Awaited<ReturnType<typeof reason>>>(
      loaded === undefined ? 'loading' : 'there',
    )
    const run = (): void =>
      void load().then(
        (component) => {
          loaded = component
          setState('there')
        },
        async () => setState(await reason()),
      )
    useEffect(() => {
      if (state === 'loading') run()
    }, [])
    // A server of another version does not have the part.
    useEvery(RETRY_MS, run, state === 'failed' || state === 'away')
    if (loaded !== undefined) {
      const Loaded = loaded
      return <Loaded {...props} />
    }
    if (state === 'loading') return <div class="busy grow" />
    if (state === 'away') return <NoAnswer />
    return (
      <div class="notice bad grow" role="alert">
        <span>This part of the page could not be loaded. The server may be another version by now.</span>
        <Button label="Load the page again" class="small" onClick={() => location.reload()} />
      </div>
    )
  }
}
