import { useMemo } from 'preact/hooks'
import type { ApplicationEntry, Entry } from '../api/types.ts'
import { LogText } from '../ui/log-text.tsx'
import { Time } from '../ui/time.tsx'
import { ExceptionView } from './exception-view.tsx'
import { factsOf, messageOf } from './facts.ts'
import { FieldTable } from './field-table.tsx'
import { JsonBlock } from './json-block.tsx'
import { isJson, type JsonField, jsonFields } from './json-text.ts'
import { mergedScopes, scopeStack } from './scopes.ts'

/** The most values of a payload that are listed; the whole of it stands in its text. */
const VALUES_MAX = 300

/** What an entry says, and all values that it holds. */
export function EntryFields({ entry, exception = false }: { readonly entry: Entry; readonly exception?: boolean }) {
  const message = messageOf(entry)
  const isPayload = entry.kind === 'event'
  const json = useMemo(() => isPayload && isJson(message), [message])
  const values = useMemo(() => (json ? jsonFields(message, VALUES_MAX) : []), [json, message])
  return (
    <div class="stack">
      {json ? <JsonBlock text={message} label="payload" /> : <LogText text={message} class="message mono wrap" />}
      {exception && entry.kind === 'application' && entry.exception !== null && (
        <ExceptionView text={entry.exception} />
      )}
      <FieldTable
        label="Fields"
        rows={factsOf(entry).map((fact) =>
          fact.name === 'timestamp' || fact.name === 'receivedAt'
            ? { ...fact, shown: <Time at={fact.text} full /> }
            : fact,
        )}
      />
      {values.length > 0 && (
        <section class="stack">
          <h2>Payload</h2>
          <FieldTable label="Payload" rows={values.map((value) => rowOf(value, 'payload'))} />
          {values.length === VALUES_MAX && <p class="hint">Only the first {VALUES_MAX} values are listed.</p>}
        </section>
      )}
      {entry.kind === 'application' && entry.scopeData !== null && <Scopes data={entry.scopeData} />}
    </div>
  )
}

const rowOf = ({ path, text, value }: JsonField, family: string) => ({
  name: path === '' ? '·' : path,
  text,
  ...(value === null ? {} : { term: { field: `${family}.${path}`, value } }),
})

/** Scopes in their order, the outermost first, and the values that hold after all of them. */
function Scopes({ data }: { readonly data: NonNullable<ApplicationEntry['scopeData']> }) {
  const stack = useMemo(() => scopeStack(data), [data])
  const merged = useMemo(() => mergedScopes(stack), [stack])
  const named = stack.length > 1 || stack.some(({ text }) => text !== '')
  return (
    <section class="stack">
      <h2>{named ? 'Scopes, outermost first' : 'Scope'}</h2>
      {named && (
        <ol class="scopes">
          {stack.map(({ text, fields }, index) => (
            <li key={index}>
              <LogText
                text={text === '' ? fields.map((one) => `${one.path}=${one.text}`).join('  ') : text}
                most={400}
              />
            </li>
          ))}
        </ol>
      )}
      <FieldTable
        label="Values of the scopes"
        rows={merged.map(({ hidden, within, ...field }) => ({
          ...rowOf(field, within === '' ? 'scope' : `scope.${within}`),
          more: hidden.map((text, index) => (
            <s key={index} class="muted" title="A scope around it gave this value">
              <LogText text={text} most={200} />
            </s>
          )),
        }))}
      />
    </section>
  )
}
