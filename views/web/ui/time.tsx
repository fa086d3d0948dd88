import { clockText, timeText } from '../lib/times.ts'
import { useUtc } from './use-utc.ts'

/** A time as the reader wants it, UTC or local, with the whole of it in UTC on hover. */
export function Time({ at, full = false }: { readonly at: string; readonly full?: boolean }) {
  const utc = useUtc()
  return (
    <time class="time" dateTime={at} title={at}>
      {full ? timeText(at, utc) : clockText(at, utc)}
    </time>
  )
}
