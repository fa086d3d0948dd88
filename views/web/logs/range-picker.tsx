import { useState } from 'preact/hooks'
import { isRelative, parseTime } from '../../../shared/query/time.ts'
import { systemClock } from '../../../shared/runtime/clock.ts'
import { timeText } from '../../flow-layout/times.ts'
import type { TypedRange as Typed } from '../../schemas/answers.ts'
import { get } from '../api/client.ts'
import { iso, PRESETS, zoneText } from '../lib/times.ts'
import { Icon } from '../ui/button.tsx'
import { Popover } from '../ui/popover.tsx'
import { useUtc } from '../ui/time.tsx'
import { useKeys } from '../ui/use-keys.ts'
import { type AddressParams, ALL_TIME, rangeLabel, rangeOf } from './filters.ts'

interface RangePickerProps {
  readonly params: AddressParams
  readonly onRange: (range: { readonly from: string | undefined; readonly to: string | undefined }) => void
}

/** Opens the menu of times, where the begin of the range can be typed at once. */
function openTime(): void {
  const button = document.querySelector<HTMLElement>('.range button')
  button?.focus()
  button?.click()
  requestAnimationFrame(() => {
    const begin = document.querySelector<HTMLInputElement>('.range input')
    begin?.focus()
    begin?.select()
  })
}

/** The time range: a preset, or typed as absolute or relative times. */
export function RangePicker({ params, onRange }: RangePickerProps) {
  const utc = useUtc()
  useKeys({ d: { what: 'Time', run: openTime } })
  const { from, to } = rangeOf(params)
  const current = to === undefined ? (from ?? ALL_TIME) : undefined
  return (
    <div class="range">
      <Popover
        align="end"
        title="Time (d)"
        label={
          <>
            <Icon name="clock" />
            <span class="cut">{rangeLabel(params, utc)}</span>
            <Icon name="down" />
          </>
        }
      >
        {(close) => {
          const choose = (range: Parameters<RangePickerProps['onRange']>[0]): void => {
            onRange(range)
            close()
          }
          return (
            <div class="ranges">
              <div>
                {[...PRESETS, { from: ALL_TIME, label: 'All time' }].map((preset) => (
                  <button
                    key={preset.from}
                    type="button"
                    aria-pressed={preset.from === current}
                    onClick={() => choose({ from: preset.from, to: undefined })}
                  >
                    {preset.label}
                  </button>
                ))}
              </div>
              <TypedRange params={params} utc={utc} onRange={choose} />
            </div>
          )
        }}
      </Popover>
    </div>
  )
}

function TypedRange({ params, utc, onRange }: RangePickerProps & { readonly utc: boolean }) {
  const now = systemClock.now()
  const range = rangeOf(params)
  const [problem, setProblem] = useState<string>()
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const typed = new FormData(form)
    // A time that is left alone stays the same, also where its text means two, as when clocks are put back.
    const timeOf = (name: string, before: string | undefined): string => {
      const text = String(typed.get(name))
      return (text === shownTime(before, utc) && !isRelative(text) && parseTime(before ?? '', 0)) || text
    }
    const zone = utc ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone
    const answer = await get<Typed>('/api/query/range', {
      begin: timeOf('begin', range.from),
      end: timeOf('end', range.to),
      zone,
    })
    // Another range may have been chosen, or another page, while the answer was on its way.
    if (!form.isConnected) return
    if (answer.ok) onRange({ from: answer.data.from ?? ALL_TIME, to: answer.data.to ?? undefined })
    else setProblem(answer.problem.message)
  }
  const field = (label: string, name: string, time: string | undefined, placeholder: string) => (
    <label class="field">
      <span class="label">{label}</span>
      <input
        class="input mono"
        name={name}
        defaultValue={shownTime(time, utc)}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={problem === undefined ? undefined : 'true'}
      />
    </label>
  )
  return (
    <form class="stack" onSubmit={submit}>
      {field('From', 'begin', range.from, 'now-2h')}
      {field('To', 'end', range.to, 'now')}
      {problem !== undefined && (
        <p class="error" role="alert">
          {problem}
        </p>
      )}
      <p class="hint">
        {shownTime(iso(now - (now % 60_000)), utc)}, 9:30, yesterday 9:30, 2h or now-2h. Zone: {zoneText(utc, now)}.
      </p>
      <button type="submit" class="button primary">
        Show
      </button>
    </form>
  )
}

/** An address's time as the reader would type it: relative times unchanged, absolute ones in the displayed zone without trailing zeros. */
function shownTime(text: string | undefined, utc: boolean): string {
  if (text === undefined || isRelative(text)) return text ?? ''
  const at = parseTime(text, 0)
  if (at === undefined) return text
  return timeText(at, utc)
    .replace('Z', '')
    .replace(/\.000$/, '')
}
