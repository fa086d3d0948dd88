import { visible } from '../../flow-layout/format.ts'
import type { Entry, EntryDetails } from '../../schemas/answers.ts'
import { useFetch } from '../api/use-fetch.ts'
import { IconButton } from '../ui/button.tsx'
import { LevelTag } from '../ui/level.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { Time } from '../ui/time.tsx'
import { go, useAddress } from '../ui/use-address.ts'
import { useKeys } from '../ui/use-keys.ts'
import { ContextView } from './context-view.tsx'
import { copyJson, copyLink, EntryActions } from './entry-actions.tsx'
import { EntryFields, JsonBlock } from './entry-fields.tsx'
import { ExceptionView } from './exception-view.tsx'
import { sourceOf } from './facts.ts'
import { detailsPath } from './links.ts'
import { useWhole } from './use-entry.ts'

interface EntryPanelProps {
  readonly entry: Entry
  readonly onClose: () => void
}

/** One entry beside the page: its fields, JSON, exception and context. The address holds the open tab. */
export function EntryPanel({ entry: listed, onClose }: EntryPanelProps) {
  const entry = useWhole(listed)
  const { params } = useAddress()
  useKeys({
    Escape: { what: 'Close', run: onClose },
    c: { what: 'Copy the JSON', run: () => copyJson(entry) },
    l: { what: 'Copy the link', run: () => copyLink(entry) },
    f: {
      what: 'Open the flow',
      run: () => entry.correlationKey !== null && go({ path: ['flows', entry.correlationKey] }),
    },
  })
  const exception = entry.kind === 'application' ? entry.exception : null
  const tabs = [
    { id: 'fields', name: 'Fields' },
    { id: 'json', name: 'JSON' },
    ...(exception === null ? [] : [{ id: 'exception', name: 'Exception' }]),
    { id: 'context', name: 'Context' },
  ]
  const tab = tabs.some(({ id }) => id === params['tab']) ? params['tab'] : 'fields'
  return (
    <aside class="side entry" aria-label="Log">
      <div class="head">
        <LevelTag level={entry.level} full />
        <Time at={entry.timestamp} full />
        <bdi class="muted cut grow" title={visible(sourceOf(entry).full)}>
          {visible(sourceOf(entry).name)}
        </bdi>
        <IconButton icon="close" class="quiet" label="Close" title="Close (Esc)" onClick={onClose} />
      </div>
      <div class="body stack">
        <EntryActions entry={entry} />
        <Tabs
          label="Log"
          tabs={tabs}
          tab={tab ?? 'fields'}
          onTab={(id) => go({ params: { tab: id === 'fields' ? undefined : id } }, 'replace')}
        >
          {tab === 'json' ? (
            <JsonBlock key={entry.id} text={JSON.stringify(entry, null, 2)} label="JSON" />
          ) : tab === 'exception' && exception !== null ? (
            <Exception key={entry.id} entry={entry} text={exception} />
          ) : tab === 'context' ? (
            <ContextView entry={entry} />
          ) : (
            <EntryFields key={entry.id} entry={entry} />
          )}
        </Tabs>
      </div>
    </aside>
  )
}

const Exception = ({ entry, text }: { readonly entry: Entry; readonly text: string }) => (
  <ExceptionView text={text} read={useFetch<EntryDetails>(detailsPath(entry)).data?.exception} />
)
