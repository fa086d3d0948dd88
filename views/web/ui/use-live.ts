import { useEffect, useRef, useState } from 'preact/hooks'
import { type Params, type StreamHandlers, stream, urlOf } from '../api/client.ts'

/** Follows a tail while the path is not null; begins anew whenever path or parameters change. */
export function useLive(
  path: string | null,
  params: Params,
  handlers: Omit<StreamHandlers, 'onState'>,
): 'off' | 'connecting' | 'live' | 'away' {
  const [state, setState] = useState<'off' | 'connecting' | 'live' | 'away'>('off')
  const latest = useRef(handlers)
  latest.current = handlers
  useEffect(() => {
    if (path === null) return setState('off')
    return stream(path, params, {
      onEntry: (entry) => latest.current.onEntry(entry),
      onSkipped: (count) => latest.current.onSkipped?.(count),
      onState: setState,
    })
  }, [path === null ? null : urlOf(path, params)])
  return state
}
