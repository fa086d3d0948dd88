import { useState } from 'preact/hooks'
import { systemClock } from '../../../shared/runtime/clock.ts'
import { countText, visible } from '../../flow-layout/format.ts'
import { dayText } from '../../flow-layout/times.ts'
import type { Refusal, Refusals } from '../../schemas/answers.ts'
import { Failed, Gone } from '../api/failed.tsx'
import { type NameOf, useNames } from '../api/names.ts'
import { useFetch } from '../api/use-fetch.ts'
import { withGateway } from '../ui/base.ts'
import { Busy } from '../ui/busy.tsx'
import { Button } from '../ui/button.tsx'
import { Copy } from '../ui/copy.tsx'
import { LogText } from '../ui/log-text.tsx'
import { Select } from '../ui/select.tsx'
import { Time } from '../ui/time.tsx'
import { go, hrefTo, useAddress } from '../ui/use-address.ts'
import { useEvery } from '../ui/use-every.ts'
import { factsOf, groupsOf, REFUSED, type RefusedGroup } from './texts.ts'

const LOOK_MS = 3_000
/** The number of refusals kept per Team. */
const KEPT_MAX = 200

/** The Team's latest refusals, each with what to change. */
export function RefusedPage() {
  const { params } = useAddress()
  const { code, id } = params
  const refusals = useFetch<Refusals>('/api/refusals', { limit: KEPT_MAX })
  const { problem, loading, reload } = refusals
  useEvery(LOOK_MS, reload, !loading)
  const nameOf = useNames()
  // Shown with the names from the start, as these have other widths than what they stand for.
  const data = nameOf && refusals.data
  const items = data?.items ?? []
  const codes = new Set([...items.map((item) => item.code), ...(code === undefined ? [] : [code])])
  const shown = items.filter((item) => code === undefined || item.code === code)
  return (
    <div class="page prose">
      <div class="bar">
        <h1 class="grow">{REFUSED.title}</h1>
        {codes.size > 0 && (
          <Select
            label={REFUSED.reason}
            options={[['', REFUSED.everyReason], ...[...codes].map((one) => [one, one] as const)]}
            value={code ?? ''}
            onChange={(next) => go({ params: { code: next, id: undefined } })}
          />
        )}
      </div>
      <p class="muted">{REFUSED.about}</p>
      <Failed problem={problem} reload={reload} instead={data === undefined} />
      <Busy on={data === undefined && problem === undefined} />
      {data !== undefined && id !== undefined && !items.some((item) => item.id === id) && (
        <Gone what="refused log" onLeave={() => go({ params: { id: undefined } }, 'replace')} />
      )}
      {nameOf &&
        groupsOf(shown).map((group) => (
          <Group
            key={group.key}
            group={group}
            nameOf={nameOf}
            openId={id}
            onToggle={(item) => go({ params: { id: item === id ? undefined : item } }, 'replace')}
          />
        ))}
      {data !== undefined && shown.length === 0 && (
        <div class="panel empty">
          <h2>{code === undefined ? REFUSED.none : REFUSED.noneForReason}</h2>
          <p>{REFUSED.noneAbout}</p>
          {code !== undefined && (
            <Button label={REFUSED.showEveryReason} onClick={() => go({ params: { code: undefined } })} />
          )}
        </div>
      )}
    </div>
  )
}

interface GroupProps {
  readonly group: RefusedGroup
  readonly nameOf: NameOf
  readonly openId: string | undefined
  readonly onToggle: (id: string) => void
}

/** The refusals of one client for one reason: their number and the latest one, and the others on request. */
function Group({ group: { count, items }, nameOf, openId, onToggle }: GroupProps) {
  const [isLong, setLong] = useState(false)
  const [last, ...others] = items
  const { code, userAgent, keyPrefix, at } = last
  const client = visible(REFUSED.client(userAgent))
  const all = isLong || others.some(({ id }) => id === openId)
  return (
    <section class="panel" aria-label={`${code}, ${client}`}>
      <h2 class="refused-head">
        <span class="badge bad">{code}</span>
        <span class="num">×{countText(count)}</span>
        <bdi class="cut">{client}</bdi>
        {keyPrefix !== null && <span class="mono muted">{visible(keyPrefix)}…</span>}
        <span class="muted">
          {REFUSED.last} <Time at={at} full={dayText(at, true) !== dayText(systemClock.now(), true)} />
        </span>
      </h2>
      {(all ? items : [last]).map((item) => (
        <Refused
          key={item.id}
          item={item}
          nameOf={nameOf}
          isOpen={item.id === openId}
          onToggle={() => onToggle(item.id)}
        />
      ))}
      {!all && others.length > 0 && (
        <Button
          label={REFUSED.more(countText(others.length))}
          class="quiet small refused-more"
          onClick={() => setLong(true)}
        />
      )}
    </section>
  )
}

interface RefusedProps extends Pick<GroupProps, 'nameOf'> {
  readonly item: Refusal
  readonly isOpen: boolean
  readonly onToggle: () => void
}

const Refused = ({ item, nameOf, isOpen, onToggle }: RefusedProps) => (
  <details class="refused" open={isOpen}>
    {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a control */}
    <summary
      onClick={(event) => {
        event.preventDefault()
        onToggle()
      }}
    >
      <Time at={item.at} full={dayText(item.at, true) !== dayText(systemClock.now(), true)} />
      <bdi class="cut mono" title={visible(item.identifier ?? '')}>
        {visible(nameOf('project', item.identifier ?? ''))}
      </bdi>
      <span class="grow change">
        <bdi>{visible(item.message)}</bdi>
        {item.nearest !== null && (
          <>
            {' '}
            {REFUSED.nearest} <bdi class="mono">{visible(item.nearest.identifier)}</bdi>?
          </>
        )}
      </span>
      {item.unnoted > 0 && (
        <span class="badge warn" title={REFUSED.unnotedAbout}>
          {REFUSED.unnoted(countText(item.unnoted))}
        </span>
      )}
    </summary>
    {isOpen && <Facts item={item} />}
  </details>
)

function Facts({ item }: { readonly item: Refusal }) {
  const { nearest, body, bodyCut, curl } = item
  return (
    <div class="body stack">
      {nearest !== null && (
        <p>
          <a href={hrefTo({ path: ['team'] })}>{REFUSED.all}</a>
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
          {bodyCut && <span class="muted"> {REFUSED.cut}</span>}
        </div>
      )}
      {curl === null ? (
        <p class="hint">{REFUSED.noCommand}</p>
      ) : (
        <div>
          <Copy
            text={withGateway(curl)}
            label={nearest === null ? REFUSED.command : REFUSED.mendedCommand}
            named
            class="button"
          />
        </div>
      )}
    </div>
  )
}
