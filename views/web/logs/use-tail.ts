import { useEffect, useRef, useState } from 'preact/hooks'
import type { Entry } from '../../schemas/answers.ts'
import { type Params, stream, urlOf } from '../api/client.ts'
import { queue } from './rows.ts'

/** Minimum interval between redraws for entries of a tail, in milliseconds. */
const FLUSH_MS = 250

interface TailHandlers {
  readonly absorb: (entries: readonly Entry[]) => void
  /** Called for each entry at once, also while it has to wait. */
  readonly onEntry?: () => void
  readonly onSkipped: (count: number) => void
  /** Called when the tail is back after an outage, during which entries may have been missed. */
  readonly onReturn?: () => void
}

export type TailState = 'off' | 'connecting' | 'live' | 'away'

interface Tail {
  readonly url: string | null
  readonly state: TailState
  /** Whether the tail has opened, or failed to; the list must not be read before that. */
  readonly opened: boolean
}

const NO_TAIL: Tail = { url: null, state: 'off', opened: false }

/** A tail that delivers its entries in batches, and queues them while the list that they continue is being read. */
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
        queue(arrived.current, entry)
        latest.current.onEntry?.()
        if (arrived.current.length === 1) timer = window.setTimeout(flush, FLUSH_MS)
      },
      onSkipped: (count) => latest.current.onSkipped(count),
      onState: (state) => {
        setTail((before) => ({ url, state, opened: state !== 'connecting' || (before.url === url && before.opened) }))
        if (state === 'live' && wasAway) latest.current.onReturn?.()
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
