import { visible } from '../lib/format.ts'
import { EntryFields } from '../logs/entry-fields.tsx'
import { contextHref } from '../logs/links.ts'
import { Copy } from '../ui/copy.tsx'
import { Icon } from '../ui/icon.tsx'
import { LevelTag } from '../ui/level.tsx'
import type { FlowLog } from './flow-log.ts'
import type { FlowView } from './use-flow-view.ts'
import { placeOf, plusText } from './words.ts'

/** The log that is selected, whole. */
export function FlowDetails({ view, log }: { readonly view: FlowView; readonly log: FlowLog }) {
  const { entry } = log
  const relative = view.relative.get(log)
  const previous = relative?.sincePrevious
  return (
    <aside class="panel flow-details" aria-label="The selected log">
      <div class="head">
        <LevelTag level={entry.level} full />
        <bdi class="grow cut">{visible(placeOf(entry).join(' › '))}</bdi>
        <button type="button" class="button quiet icon small" aria-label="Close" onClick={() => view.select(undefined)}>
          <Icon name="close" />
        </button>
      </div>
      <div class="body stack">
        <div class="bar">
          <span class="time">{plusText(relative?.sinceStart ?? 0)}</span>
          <span class="muted">since the start{previous !== undefined && ', '}</span>
          {previous !== undefined && (
            <>
              <span class="time">{plusText(previous)}</span>
              <span class="muted">since the one before in its lane</span>
            </>
          )}
        </div>
        <div class="bar">
          <Copy text={() => JSON.stringify(entry, null, 2)} label="Copy JSON" named class="button small" />
          <a class="button small" href={contextHref(entry)}>
            Open among {entry.kind === 'event' ? 'event' : 'application'} logs
          </a>
        </div>
        <EntryFields key={entry.id} entry={entry} exception />
      </div>
    </aside>
  )
}
