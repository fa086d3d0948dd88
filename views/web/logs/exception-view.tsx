import { useState } from 'preact/hooks'
import { plural } from '../../flow-layout/format.ts'
import type { EntryDetails, Frame, ParsedException } from '../../schemas/answers.ts'
import { Button, Icon } from '../ui/button.tsx'
import { Copy } from '../ui/copy.tsx'
import { LogText, useFound } from '../ui/log-text.tsx'
import { type FrameRun, frameRuns } from './facts.ts'

/** Frames of one exception shown before a button for more. */
const FRAMES_SHOWN = 100
const INDENTS = 3

interface ExceptionProps {
  readonly text: string
  /** The exception as parsed by the API; the plain text is shown until it arrives. */
  readonly read: EntryDetails['exception'] | undefined
}

/** An exception with its causes; framework frames are folded, and the first frame of the program itself is highlighted. */
export function ExceptionView({ text, read }: ExceptionProps) {
  const [unfolded, setUnfolded] = useState(false)
  const { parts = [], more = false } = read ?? {}
  const foldable = parts.some(({ frames }) => frameRuns(frames).some(isFolded))
  return (
    <div class="exception stack">
      <div class="bar">
        {foldable && (
          <Button label="All frames" class="small" aria-pressed={unfolded} onClick={() => setUnfolded(!unfolded)} />
        )}
        <Copy text={text} label="Copy as text" named class="button small" />
      </div>
      {parts.length === 0 && <LogText text={text} />}
      {parts.map((one, index) => (
        <One key={index} exception={one} unfolded={unfolded} />
      ))}
      {more && <p class="muted">Only the first lines are shown; copy the text to have all.</p>}
    </div>
  )
}

function One({ exception, unfolded }: { readonly exception: ParsedException; readonly unfolded: boolean }) {
  const [all, setAll] = useState(false)
  const { depth, type, message, frames, omitted } = exception
  const shown = all ? frames : frames.slice(0, FRAMES_SHOWN)
  return (
    <div class="one" style={{ '--depth': Math.min(depth, INDENTS) }}>
      {depth > 0 && <p class="muted small">caused by</p>}
      {type !== '' && (
        <b>
          <LogText text={type} most={300} class="mono bad wrap" />
        </b>
      )}
      {message !== '' && <LogText text={message} most={500} class="message mono wrap" />}
      {frames.length > 0 && (
        <ol class="frames">
          {frameRuns(shown).map((run, index) => (
            <Run key={`${index}${unfolded}`} run={run} unfolded={unfolded} />
          ))}
        </ol>
      )}
      {shown.length < frames.length && (
        <Button
          label={`Show ${plural(frames.length - shown.length, 'more frame')}`}
          class="small"
          onClick={() => setAll(true)}
        />
      )}
      {omitted !== '' && <p class="muted mono">{omitted}</p>}
    </div>
  )
}

/** A single frame takes no more room than its folded form. */
const isFolded = ({ framework, frames }: FrameRun): boolean => framework && frames.length > 1

function Run({ run, unfolded }: { readonly run: FrameRun; readonly unfolded: boolean }) {
  const found = useFound()
  const isFound = found !== undefined && run.frames.some(({ call, place }) => `${call} ${place}`.search(found) >= 0)
  const [open, setOpen] = useState(unfolded || !isFolded(run) || isFound)
  if (open) return run.frames.map((frame, index) => <FrameLine key={index} frame={frame} />)
  return (
    <li>
      <Button class="quiet small" onClick={() => setOpen(true)}>
        <Icon name="right" />
        {plural(run.frames.length, 'frame')} of frameworks
      </Button>
    </li>
  )
}

const FrameLine = ({ frame: { call, place, note, framework, firstOwn } }: { readonly frame: Frame }) => (
  <li class={firstOwn ? 'own' : framework ? 'muted' : undefined}>
    <LogText text={call} most={400} />
    {place !== '' && (
      <span class="place">
        {call === '' ? '' : ' '}
        <LogText text={place} most={300} />
      </span>
    )}
    {note !== '' && (
      <div class="muted">
        <LogText text={note} most={300} />
      </div>
    )}
  </li>
)
