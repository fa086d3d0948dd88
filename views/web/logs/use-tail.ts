import { useEffect, useRef, useState } from 'preact/hooks'
import type { Entry } from '../../schemas/answers.ts'
import { type Params, stream, urlOf } from '../api/client.ts'
import { useLatest } from '../ui/use-latest.ts'
import { queue } from './rows.ts'

/** Minimum interval between redraws for entries of a tail, in milliseconds. */
const FLUSH_MS = 250

interface TailHandlers {
  /** Whether entries have to wait, as what they continue is being read. Once that is over, `flush` has to be called. */
  readonly isWaiting: () => boolean
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

/** A tail that delivers its entries in batches, and queues them while they have to wait. */
export function useTail(path: string | null, params: Params, handlers: TailHandlers) {
  const url = path === null ? null : urlOf(path, params)
  const [tail, setTail] = useState<Tail>(NO_TAIL)
  const arrived = useRef<Entry[]>([])
  const latest = useLatest(handlers)
  const flush = (): void => {
    if (arrived.current.length === 0 || latest.current.isWaiting()) return
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
    flush,
  } as const
}
