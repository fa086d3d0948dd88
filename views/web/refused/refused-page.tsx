import { useState } from 'preact/hooks'
import { systemClock } from '../../../shared/runtime/clock.ts'
import { countText, visible } from '../../flow-layout/format.ts'
import { dayText } from '../../flow-layout/times.ts'
import type { Refusal, Refusals } from '../../schemas/answers.ts'
import { useFetch } from '../api/use-fetch.ts'
import { withGateway } from '../ui/base.ts'
import { Copy } from '../ui/copy.tsx'
import { LogText } from '../ui/log-text.tsx'
import { Time } from '../ui/time.tsx'
import { hrefTo, useAddress } from '../ui/use-address.ts'
import { useEvery } from '../ui/use-every.ts'
import { factsOf, groupsOf, type RefusedGroup } from './texts.ts'

const LOOK_MS = 3_000
/** As many as are kept of a Team. */
const KEPT_MAX = 200

/** The last refusals of the Team, each with what to change. */
export function RefusedPage() {
  const [{ params }, go] = useAddress()
  const { code, id } = params
  const { data, problem, loading, reload } = useFetch<Refusals>('/api/refusals', {
    limit: KEPT_MAX,
  })
  useEvery(LOOK_MS, reload, !loading)
  const items = data?.items ?? []
  const codes = new Set([...items.map((item) => item.code), ...(code === undefined ? [] : [code])])
  const shown = items.filter((item) => code === undefined || item.code === code)
  return (
    <div class="page prose">
      <div class="bar">
        <h1 class="grow">Refused logs</h1>
        {codes.size > 0 && (
          <select
            class="input"
            aria-label="Reason"
            value={code ?? ''}
            onChange={({ currentTarget }) => go({ params: { code: currentTarget.value, id: undefined } })}
          >
            <option value="">Every reason</option>
            {[...codes].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        )}
      </div>
      <p class="muted">Logs and requests of this Team that the gateway refused within a day, by reason and client.</p>
      {problem !== undefined && (
        <p class="notice warn" role="status">
          {problem.message}
        </p>
      )}
      {groupsOf(shown).map((group) => (
        <Group
          key={group.key}
          group={group}
          openId={id}
          onToggle={(item) => go({ params: { id: item === id ? undefined : item } }, 'replace')}
        />
      ))}
      {data !== undefined && shown.length === 0 && (
        <div class="panel empty">
          <h2>{code === undefined ? 'Nothing was refused' : 'Nothing was refused for this reason'}</h2>
          <p>What cannot be accepted appears here within seconds, with what to change.</p>
          {code !== undefined && (
            <button type="button" class="button" onClick={() => go({ params: { code: undefined } })}>
              Show every reason
            </button>
          )}
        </div>
      )}
    </div>
  )
}

interface GroupProps {
  readonly group: RefusedGroup
  readonly openId: string | undefined
  readonly onToggle: (id: string) => void
}

/** The refusals of one client for one reason: their number and the last one, and the others when they are asked for. */
function Group({ group: { count, items }, openId, onToggle }: GroupProps) {
  const [isLong, setLong] = useState(false)
  const [last, ...others] = items
  const { code, userAgent, keyPrefix, at } = last
  const all = isLong || others.some(({ id }) => id === openId)
  return (
    <section class="panel" aria-label={`${code}, ${visible(userAgent ?? 'client not named')}`}>
      <h2 class="refused-head">
        <span class="badge bad">{code}</span>
        <span class="num">×{countText(count)}</span>
        <bdi class="cut">{visible(userAgent ?? 'client not named')}</bdi>
        {keyPrefix !== null && <span class="mono muted">{visible(keyPrefix)}…</span>}
        <span class="muted">
          last <Time at={at} full={dayText(at, true) !== dayText(systemClock.now(), true)} />
        </span>
      </h2>
      {(all ? items : [last]).map((item) => (
        <Refused key={item.id} item={item} isOpen={item.id === openId} onToggle={() => onToggle(item.id)} />
      ))}
      {!all && others.length > 0 && (
        <button type="button" class="button quiet small refused-more" onClick={() => setLong(true)}>
          Show {countText(others.length)} more like this
        </button>
      )}
    </section>
  )
}

interface RefusedProps {
  readonly item: Refusal
  readonly isOpen: boolean
  readonly onToggle: () => void
}

const Refused = ({ item, isOpen, onToggle }: RefusedProps) => (
  <details class="refused" open={isOpen}>
    {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a control */}
    <summary
      onClick={(event) => {
        event.preventDefault()
        onToggle()
      }}
    >
      <Time at={item.at} full={dayText(item.at, true) !== dayText(systemClock.now(), true)} />
      <bdi class="cut mono">{visible(item.identifier ?? '')}</bdi>
      <bdi class="cut grow muted wide-only">{visible(item.message)}</bdi>
      {item.unnoted > 0 && (
        <span class="badge warn" title="They followed and were not kept.">
          +{countText(item.unnoted)} alike
        </span>
      )}
    </summary>
    {isOpen && <Facts item={item} />}
  </details>
)

function Facts({ item }: { readonly item: Refusal }) {
  const { message, nearest, body, bodyCut, curl } = item
  return (
    <div class="body stack">
      <p>
        <bdi>{visible(message)}</bdi>
      </p>
      {nearest !== null && (
        <p class="notice">
          <span>
            Did you mean <bdi class="mono">{visible(nearest.identifier)}</bdi>?
          </span>
          <a href={hrefTo({ path: ['team'] })}>See all of the Team</a>
        </p>
      )}
      <dl class="dl">
        {factsOf(item).map(({ name, text }) => (
          <>
            <dt>
              <bdi>{visible(name)}</bdi>
            </dt>
            <dd>
              <bdi class="wrap">{visible(text)}</bdi>
            </dd>
          </>
        ))}
      </dl>
      {body !== null && (
        <div class="code">
          <LogText text={body} />
          {bodyCut && <span class="muted"> … cut here</span>}
        </div>
      )}
      {curl === null ? (
        <p class="hint">
          What was sent is not kept in full, or fits no command, so it cannot be tried again from here.
        </p>
      ) : (
        <div>
          <Copy
            text={withGateway(curl)}
            label={nearest === null ? 'Copy as cURL' : 'Copy as cURL, with the identifier mended'}
            named
            class="button"
          />
        </div>
      )}
    </div>
  )
}
