import { systemClock } from '../../../shared/runtime/clock.ts'
import type { Entry, EntryDetails } from '../../schemas/answers.ts'
import { get } from '../api/client.ts'
import { withGateway } from '../ui/base.ts'
import { Button, Icon } from '../ui/button.tsx'
import { copy } from '../ui/copy.tsx'
import { toast } from '../ui/toast.tsx'
import { messageOf } from './facts.ts'
import { detailsPath, entryLink, entryPath, flowHref } from './links.ts'

/** Copies a text of an entry, which is read again if a list has cut it. */
async function copyOf(entry: Entry, textOf: (whole: Entry) => string, what: string): Promise<void> {
  const answer = entry.truncated && (await get<Entry>(entryPath(entry)))
  if (answer?.ok === false) toast(answer.problem.message, 'bad')
  else await copy(textOf(answer?.data ?? entry), what)
}

const copyMessage = (entry: Entry): Promise<void> =>
  copyOf(entry, messageOf, entry.kind === 'event' ? 'The payload' : 'The message')

async function copyCurl(entry: Entry): Promise<void> {
  const answer = await get<EntryDetails>(detailsPath(entry))
  if (!answer.ok) toast(answer.problem.message, 'bad')
  else if (answer.data.curl === null) toast('The log is too long for a command.', 'bad')
  else await copy(withGateway(answer.data.curl), 'The command')
}

/** Buttons for an entry; `onOpen` opens it beside the page, unless it is already open there. */
export const EntryActions = ({ entry, onOpen }: { readonly entry: Entry; readonly onOpen?: () => void }) => (
  <div class="bar">
    {onOpen !== undefined && <Button label="Open beside" class="small" onClick={onOpen} title="Enter" />}
    {entry.correlationKey !== null && (
      <a class="button small" href={flowHref(entry.correlationKey)}>
        <Icon name="flow" />
        Open flow
      </a>
    )}
    <Action name={entry.kind === 'event' ? 'Copy payload' : 'Copy message'} run={() => copyMessage(entry)} />
    <Action name="Copy JSON" run={() => copyJson(entry)} />
    <Action name="Copy link" run={() => copyLink(entry)} />
    <Action name="Copy as cURL" run={() => copyCurl(entry)} />
  </div>
)

const Action = ({ name, run }: { readonly name: string; readonly run: () => unknown }) => (
  <Button label={name} class="small" onClick={run} />
)

export const copyJson = (entry: Entry): Promise<void> =>
  copyOf(entry, (whole) => JSON.stringify(whole, null, 2), 'The JSON')

export const copyLink = (entry: Entry): Promise<boolean> => copy(entryLink(entry, systemClock.now()), 'The link')
