import { useEffect, useRef, useState } from 'preact/hooks'
import type { Entry } from '../../schemas/answers.ts'
import { type Params, stream, urlOf } from '../api/client.ts'

/** The shortest time between two drawings of entries that a tail brought. */
const FLUSH_MS = 250

interface TailHandlers {
  readonly absorb: (entries: readonly Entry[]) => void
  readonly onSkipped: (count: number) => void
  /** It was away and is there again: entries may have passed meanwhile. */
  readonly onReturn: () => void
}

export type TailState = 'off' | 'connecting' | 'live' | 'away'

interface Tail {
  readonly url: string | null
  readonly state: TailState
  /** Whether it has been open, or cannot be opened: before, the list must not be read. */
  readonly opened: boolean
}

const NO_TAIL: Tail = { url: null, state: 'off', opened: false }

/** A tail whose entries are given on together, and wait while the list that they go on is being read. */
export function useTail(path: string | null, params: Params, handlers: TailHandlers) {
  const url = path === null ? null : urlOf(path, params)
  const [tail, setTail] = useState<Tail>(NO_TAIL)
  const arrived = useRef<Entry[]>([])
  const waits = useRef(true)
  const latest = useRef(handlers)
  latest.current = handlers
  const flush = (): void => {
    if (waits.current || arrived.current.length === 0) return
    latest.current.absorb(arrived.current)
    arrived.current = []
  }
  useEffect(() => {
    arrived.current = []
    if (path === null) return setTail(NO_TAIL)
    let timer = 0
    let wasAway = false
    const close = stream(path, params, {
      onEntry: (entry) => {
        arrived.current.push(entry)
        if (arrived.current.length === 1) timer = window.setTimeout(flush, FLUSH_MS)
      },
      onSkipped: (count) => latest.current.onSkipped(count),
      onState: (state) => {
        setTail((before) => ({ url, state, opened: state !== 'connecting' || (before.url === url && before.opened) }))
        if (state === 'live' && wasAway) latest.current.onReturn()
        if (state !== 'connecting') wasAway = state === 'away'
      },
    })
    return () => {
      clearTimeout(timer)
      close()
    }
  }, [url])
  const known = tail.url === url ? tail : NO_TAIL
  return {
    state: path === null ? 'off' : known.state === 'off' ? 'connecting' : known.state,
    opened: known.opened,
    wait: () => {
      waits.current = true
    },
    go: () => {
      waits.current = false
      flush()
    },
  } as const
}
