import { useLayoutEffect, useRef } from 'preact/hooks'
import { LEVELS } from '../../../shared/contract/levels.ts'
import { countText, plural, visible } from '../../flow-layout/format.ts'
import { durationText } from '../../flow-layout/times.ts'
import { Button, Icon, IconButton } from '../ui/button.tsx'
import { LevelMark } from '../ui/level.tsx'
import { useKeys } from '../ui/use-keys.ts'
import { listOf } from './flow-address.ts'
import { TypedInput } from './typed-input.tsx'
import type { FlowView } from './use-flow-view.ts'

interface ToolbarProps {
  readonly view: FlowView
  /** Goes to the next or previous match, or to an error if nothing is searched for. */
  readonly jump: (step: 1 | -1) => void
  /** The position of the selection among the matches, from 1; 0 if it is not a match. */
  readonly at: number
  readonly errors: number
}

/** The controls that filter and arrange the drawing and the list. */
export function FlowToolbar({ view, jump, at, errors }: ToolbarProps) {
  const { brief, logs, lane, gaps, matches, params, set } = view
  const levels = listOf(params['level'])
  // Those of the summary, which comes first, until the logs are here.
  const { Error: failures = 0, Critical: worse = 0 } = brief.summary.levels
  const hasErrors = (logs.length > 0 ? errors : failures + worse) > 0
  const skews = logs.flatMap(({ skew }) => (skew > 0 ? [skew] : []))
  const received = params['order'] === 'received'
  const idle = gaps.every(({ folded }) => folded)
  const find = useRef<HTMLInputElement>(null)
  /** Where Enter leads to once what was typed just before it has been looked for. */
  const due = useRef<1 | -1>()
  useLayoutEffect(() => {
    if (due.current !== undefined) jump(due.current)
    due.current = undefined
  }, [matches])
  const onEnter = (text: string, shift: boolean): void => {
    const step = shift ? -1 : 1
    if (text.trim() === (params['q'] ?? '')) jump(step)
    else {
      due.current = step
      set({ q: text.trim() })
    }
  }
  useKeys({ '/': { what: 'Find in this flow', run: () => find.current?.focus() } })
  return (
    <div class="bar flow-tools">
      {LEVELS.toReversed().map((level) => {
        const count = brief.summary.levels[level]
        return (
          count && (
            <button
              key={level}
              type="button"
              class="chip"
              aria-pressed={levels.has(level)}
              onClick={() => view.toggle('level', level)}
            >
              <LevelMark level={level} />
              {level} <span class="num">{countText(count)}</span>
            </button>
          )
        )
      })}
      {lane && (
        <button type="button" class="chip" aria-pressed onClick={() => set({ lane: undefined })}>
          Only <bdi>{visible(lane.label)}</bdi> <Icon name="close" />
        </button>
      )}
      {matches === undefined && hasErrors && (
        <Button class="small" onClick={() => jump(1)}>
          Next error <kbd>n</kbd>
        </Button>
      )}
      <TypedInput
        label="Find in this flow"
        value={params['q']}
        inputRef={find}
        onRest={(text) => set({ q: text.trim() })}
        onEnter={onEnter}
      />
      {matches && (
        <>
          <span class="muted num" role="status">
            {at > 0 && `${at} of `}
            {plural(matches.size, 'match', 'matches')}
          </span>
          <IconButton icon="left" class="small" label="Previous match (N)" onClick={() => jump(-1)} />
          <IconButton icon="right" class="small" label="Next match (n)" onClick={() => jump(1)} />
        </>
      )}
      <span class="grow" />
      {(received || skews.length > 0) && (
        <Button
          class="small"
          aria-pressed={received}
          title={`${plural(skews.length, 'log')} received before written, by up to ${durationText(Math.max(0, ...skews))}`}
          onClick={() => set({ order: received ? undefined : 'received' })}
        >
          <Icon name="clock" /> Order by receipt
        </Button>
      )}
      {gaps.length > 0 && (
        <Button
          label="Hide idle time"
          class="small"
          aria-pressed={idle}
          onClick={() => set({ idle: idle ? 'show' : undefined, gaps: undefined })}
        />
      )}
    </div>
  )
}
