import { useEffect, useRef, useState } from 'preact/hooks'
import { countText, plural } from '../lib/format.ts'
import { durationText } from '../lib/times.ts'
import { Icon } from '../ui/icon.tsx'
import { LevelMark } from '../ui/level.tsx'
import { wholeOf, windowBetween, zoomWindow } from './time-window.ts'
import { type FlowView, LEVELS_DOWN } from './use-flow-view.ts'

/** How much of the time one step of zooming leaves. */
const ZOOM = 0.6

export interface FlowTools {
  readonly view: FlowView
  /** Goes to the next or previous match, or error where nothing is searched for. */
  readonly jump: (step: 1 | -1) => void
  /** Where the selection stands among the matches, from 1; 0 where it is none of them. */
  readonly at: number
}

/** What narrows and arranges the drawing and the list. */
export function FlowToolbar({ view, jump, at }: FlowTools) {
  const { brief, lists, logs, skew, lane, order, gaps } = view
  const counts = Map.groupBy(logs, ({ entry }) => entry.level)
  const whole = logs.length >= brief.summary.total
  const countOf = (level: (typeof LEVELS_DOWN)[number]): number =>
    whole ? (counts.get(level)?.length ?? 0) : (brief.summary.levels[level] ?? 0)
  const errors = countOf('Error') + countOf('Critical')
  const idle = gaps.every(view.isFolded)
  return (
    <div class="bar flow-tools">
      <fieldset class="chips" aria-label="Levels">
        {LEVELS_DOWN.filter((level) => countOf(level) > 0).map((level) => (
          <button
            key={level}
            type="button"
            class="chip"
            aria-pressed={lists.level.has(level)}
            onClick={() => view.toggle('level', level)}
          >
            <LevelMark level={level} />
            {level} <span class="num">{countText(countOf(level))}</span>
          </button>
        ))}
        {lane && (
          <button type="button" class="chip" aria-pressed onClick={() => view.set({ lane: undefined })}>
            Only {lane.label} <Icon name="close" />
          </button>
        )}
      </fieldset>
      {errors > 0 && view.matches === undefined && (
        <button type="button" class="button small" onClick={() => jump(1)} title="Next error (n), previous one (N)">
          Next error <kbd>n</kbd>
        </button>
      )}
      <Find view={view} jump={jump} at={at} />
      <span class="grow" />
      {skew.count > 0 && (
        <button
          type="button"
          class="button small"
          aria-pressed={order === 'received'}
          title={`${plural(skew.count, 'log')} received before written, by up to ${durationText(skew.most)}: the clocks of the senders differ`}
          onClick={() => view.set({ order: order === 'received' ? undefined : 'received' })}
        >
          <Icon name="clock" /> Order by receipt
        </button>
      )}
      {gaps.length > 0 && (
        <button
          type="button"
          class="button small"
          aria-pressed={idle}
          onClick={() => view.set({ idle: idle ? 'show' : undefined, gaps: undefined })}
        >
          Hide idle time
        </button>
      )}
    </div>
  )
}

/** Buttons for what the wheel, the mouse and the keys do as well. */
export function FlowZoom({ view }: { readonly view: FlowView }) {
  return (
    <fieldset class="flow-zoom" aria-label="Zoom">
      <button
        type="button"
        class="button icon small"
        aria-label="Zoom out"
        title="Zoom out (-)"
        onClick={() => zoomBy(view, 1 / ZOOM)}
      >
        <Icon name="minus" />
      </button>
      <button
        type="button"
        class="button icon small"
        aria-label="Zoom in"
        title="Zoom in (+)"
        onClick={() => zoomBy(view, ZOOM)}
      >
        <Icon name="plus" />
      </button>
      <button
        type="button"
        class="button small"
        title="Show all of it (0)"
        disabled={view.window === undefined}
        onClick={() => view.setWindow(undefined, 'push')}
      >
        Fit
      </button>
    </fieldset>
  )
}

/** Zooms around the selection, or around the middle. */
export function zoomBy(view: FlowView, factor: number): void {
  const { window, segments, selected, order } = view
  const shown = window ?? wholeOf(segments)
  const at = selected?.[order] ?? Number.NaN
  const around = at >= shown.from && at <= shown.to ? at : (shown.from + shown.to) / 2
  const { from, to } = zoomWindow(segments, shown, factor, around)
  view.setWindow(windowBetween(segments, from, to))
}

/** Waits until typing rests, so that a large flow is not searched at every letter. */
const TYPING_MS = 150

function Find({ view, jump, at }: FlowTools) {
  const { matches } = view
  const [text, setText] = useState(view.query)
  const timer = useRef(0)
  useEffect(() => setText(view.query), [view.query])
  useEffect(() => () => clearTimeout(timer.current), [])
  const search = (q: string): void => {
    setText(q)
    clearTimeout(timer.current)
    timer.current = window.setTimeout(() => view.set({ q: q.trim() }), TYPING_MS)
  }
  return (
    <search class="flow-find">
      <input
        id="flow-find"
        class="input"
        type="search"
        placeholder="Find in this flow"
        aria-label="Find in this flow"
        value={text}
        onInput={({ currentTarget }) => search(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') jump(event.shiftKey ? -1 : 1)
          if (event.key === 'Escape') search('')
        }}
      />
      {matches && (
        <>
          <span class="muted small num nowrap" role="status">
            {at === 0 ? plural(matches.size, 'match', 'matches') : `${at} of ${countText(matches.size)}`}
          </span>
          <button
            type="button"
            class="button icon small"
            aria-label="Previous match"
            title="Previous match (N)"
            onClick={() => jump(-1)}
          >
            <Icon name="left" />
          </button>
          <button
            type="button"
            class="button icon small"
            aria-label="Next match"
            title="Next match (n)"
            onClick={() => jump(1)}
          >
            <Icon name="right" />
          </button>
        </>
      )}
    </search>
  )
}
