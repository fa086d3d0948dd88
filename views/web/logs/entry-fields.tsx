import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Entry, EntryDetails } from '../../schemas/answers.ts'
import { useFetch } from '../api/use-fetch.ts'
import { Copy } from '../ui/copy.tsx'
import { LogText } from '../ui/log-text.tsx'
import { Time } from '../ui/time.tsx'
import { ExceptionView } from './exception-view.tsx'
import { messageOf } from './facts.ts'
import { FieldTable } from './field-table.tsx'
import { detailsPath } from './links.ts'

const TIMES: readonly string[] = ['timestamp', 'receivedAt']

/** The message or payload of an entry, and all its values. */
export function EntryFields({ entry, exception = false }: { readonly entry: Entry; readonly exception?: boolean }) {
  const { data, problem } = useFetch<EntryDetails>(detailsPath(entry))
  const message = messageOf(entry)
  const { fields = [], payload, scopes } = data ?? {}
  return (
    <div class="stack">
      {payload ? (
        <JsonBlock text={payload.text} copied={message} label="payload" />
      ) : (
        <LogText text={message} class="message mono wrap" />
      )}
      {problem && <p class="error">{problem.message}</p>}
      {exception && entry.kind === 'application' && entry.exception !== null && (
        <ExceptionView text={entry.exception} read={data?.exception} />
      )}
      <FieldTable
        kind={entry.kind}
        label="Fields"
        rows={fields.map((field) =>
          TIMES.includes(field.name) ? { ...field, shown: <Time at={field.text} full /> } : field,
        )}
      />
      {payload && payload.values.length > 0 && (
        <section class="stack">
          <h2>Payload</h2>
          <FieldTable kind={entry.kind} label="Payload" rows={payload.values} />
        </section>
      )}
      {scopes && (
        <section class="stack">
          <h2>{scopes.stack.length > 0 ? 'Scopes, outermost first' : 'Scope'}</h2>
          {scopes.stack.length > 0 && (
            <ol class="scopes">
              {scopes.stack.map((text, index) => (
                <li key={index}>
                  <LogText text={text} most={400} />
                </li>
              ))}
            </ol>
          )}
          <FieldTable
            kind={entry.kind}
            label="Values of the scopes"
            rows={scopes.values.map(({ hidden, ...value }) => ({
              ...value,
              more: hidden.map((text, index) => (
                <s key={index} class="muted" title="A scope around it gave this value">
                  <LogText text={text} most={200} />
                </s>
              )),
            }))}
          />
        </section>
      )}
      {(payload ?? scopes)?.more && <p class="hint">Only a part is shown; copy the JSON to have all.</p>}
    </div>
  )
}

interface JsonBlockProps {
  readonly text: string
  /** The copied text, if it differs from the shown one. */
  readonly copied?: string
  readonly label: string
}

/** A pretty-printed JSON text, scrolled to what the search found in it. */
export function JsonBlock({ text, copied = text, label }: JsonBlockProps) {
  const scroller = useRef<HTMLPreElement>(null)
  useLayoutEffect(() => {
    const mark = scroller.current?.querySelector('mark')
    if (mark) scroller.current?.scrollTo({ top: mark.offsetTop - scroller.current.clientHeight / 2 })
  }, [text])
  return (
    <div class="json">
      <Copy text={copied} label={`Copy ${label}`} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
      <pre class="code wrap" tabIndex={0} ref={scroller}>
        <LogText text={text} most={6_000} class="" />
      </pre>
    </div>
  )
}
