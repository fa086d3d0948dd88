import { useEffect, useRef } from 'preact/hooks'
import type { FlowLog } from '../../flow-layout/flow-log.ts'
import { visible } from '../../flow-layout/format.ts'
import { EntryFields } from '../logs/entry-fields.tsx'
import { contextHref } from '../logs/links.ts'
import { useWhole } from '../logs/use-entry.ts'
import { IconButton } from '../ui/button.tsx'
import { Copy } from '../ui/copy.tsx'
import { LevelTag } from '../ui/level.tsx'
import { bringIntoSight } from './element-hooks.ts'
import type { FlowView } from './use-flow-view.ts'
import { plusText } from './words.ts'

interface DetailsProps {
  readonly view: FlowView
  readonly log: FlowLog
}

/** The selected log in full. */
export function FlowDetails({ view, log: { entry: listed, where, sinceStart, sincePrevious } }: DetailsProps) {
  const entry = useWhole(listed)
  const panel = useRef<HTMLElement>(null)
  // In a low or narrow window, what a key or a row selects may be out of sight, here and in the drawing.
  useEffect(() => bringIntoSight(panel.current, '.flow-ring'), [listed.id])
  return (
    <aside class="panel flow-details" ref={panel} aria-label="The selected log">
      <div class="head">
        <LevelTag level={entry.level} full />
        <bdi class="grow cut">{visible(where.join(' › '))}</bdi>
        <IconButton icon="close" label="Close (Esc)" onClick={() => view.select(undefined)} />
      </div>
      <div class="body stack">
        <div class="bar">
          <Copy text={() => JSON.stringify(entry, null, 2)} label="Copy JSON" named class="button small" />
          <a class="button small" href={contextHref(entry)}>
            Open among {entry.kind} logs
          </a>
          <span class="muted">
            {plusText(sinceStart)} since the start
            {sincePrevious !== undefined && `, ${plusText(sincePrevious)} in its lane`}
          </span>
        </div>
        <EntryFields key={entry.id} entry={entry} exception />
      </div>
    </aside>
  )
}
