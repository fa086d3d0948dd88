import type { FlowState } from '../../../shared/log-store/log-store.ts'
import { nameOf } from '../../flow-layout/flow-log.ts'
import { countText, plural, visible } from '../../flow-layout/format.ts'
import { durationText } from '../../flow-layout/times.ts'
import type { EventStatistics, FlowStatistics, StepStatistics } from '../../schemas/answers.ts'
import type { Params } from '../api/client.ts'
import { Failed } from '../api/failed.tsx'
import { useFetch } from '../api/use-fetch.ts'
import { Busy } from '../ui/busy.tsx'
import { hrefTo } from '../ui/use-address.ts'
import { BADGES, STEPS, TABS } from './texts.ts'

/** Statistics of the selected flows, by Event. */
export function Statistics({ params }: { readonly params: Params }) {
  const { data, problem, reload } = useFetch<FlowStatistics>('/api/flows/statistics', params)
  const [title, reason] = STEPS.none
  return (
    <div class="stack">
      <Busy on={data === undefined && problem === undefined} />
      <Failed problem={problem} reload={reload} instead={data === undefined} />
      {data?.complete === false && (
        <p class="notice">
          All flows are counted. The times are those of {plural(data.sampled, 'flow')}, taken from the whole range.
        </p>
      )}
      {data?.items.map((event) => (
        <EventPanel key={event.event.identifier} statistics={event} params={params} />
      ))}
      {data?.items.length === 0 && (
        <div class="panel empty">
          <h2>{title}</h2>
          <p>{reason}</p>
        </div>
      )}
      {data?.more && <p class="muted">Events and Steps beyond these are not shown.</p>}
    </div>
  )
}

interface PanelProps {
  readonly statistics: EventStatistics
  readonly params: Params
}

function EventPanel({ statistics, params }: PanelProps) {
  const { event, started, duration, steps } = statistics
  const flows = (state: FlowState | ''): string =>
    hrefTo({ params: { ...params, view: undefined, event: event.identifier, state } })
  // The denominator of each Step's share: the median times of all Steps together.
  const usual = steps.reduce((sum, step) => sum + (step.duration?.p50 ?? 0), 0)
  return (
    <section class="panel" aria-label={visible(nameOf(event))}>
      <div class="head">
        <h2>{visible(nameOf(event))}</h2>
        <a href={flows('')}>{plural(started, 'flow')}</a>
        {TABS.flatMap(([state, name]) =>
          state === '' || statistics[state] === 0 ? (
            []
          ) : (
            <a key={state} class={`badge ${BADGES[state] ?? ''}`} href={flows(state)}>
              {countText(statistics[state])} {name.toLowerCase()}
            </a>
          ),
        )}
        <span class="grow" />
        {duration && (
          <span class="muted">
            Finished: half within {durationText(duration.p50)}, 95 % within {durationText(duration.p95)}
          </span>
        )}
      </div>
      {steps.length > 0 && (
        <div class="scroll">
          <table class="table steps">
            <thead>
              <tr>
                <th>{STEPS.step}</th>
                <th>{STEPS.reached}</th>
                <th class="num">{STEPS.half}</th>
                <th class="num">{STEPS.most}</th>
                <th class="flow-wide">{STEPS.share}</th>
                <th>{STEPS.stalled}</th>
              </tr>
            </thead>
            <tbody>
              {steps.map((step) => (
                <StepRow key={step.step.identifier} statistics={step} usual={usual} stalled={flows('stalled')} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

interface RowProps {
  readonly statistics: StepStatistics
  /** The median times of all Steps together, in milliseconds. */
  readonly usual: number
  /** The address of the Event's stalled flows. */
  readonly stalled: string
}

const StepRow = ({ statistics, usual, stalled }: RowProps) => {
  const { step, reached, share, duration } = statistics
  const time = duration === null || usual === 0 ? 0 : duration.p50 / usual
  return (
    <tr>
      <td class="cut" title={visible(step.identifier)}>
        <bdi>{visible(nameOf(step))}</bdi>
      </td>
      <td class="nowrap">
        <Part of={share} /> {percentText(share)} <span class="muted flow-wide">{countText(reached)}</span>
      </td>
      <td class="num nowrap">{duration && durationText(duration.p50)}</td>
      <td class="num nowrap">{duration && durationText(duration.p95)}</td>
      <td class="nowrap flow-wide">{duration && [<Part of={time} />, ` ${percentText(time)}`]}</td>
      <td>{statistics.stalled > 0 && <a href={stalled}>{countText(statistics.stalled)}</a>}</td>
    </tr>
  )
}

/** Never shows 0 or 100 % for anything in between. */
function percentText(part: number): string {
  const percent = Math.round(part * 100)
  return part > 0 && percent === 0 ? '< 1 %' : part < 1 && percent === 100 ? '> 99 %' : `${percent} %`
}

/** A share of a whole, from 0 to 1, as a bar beside its number. */
const Part = ({ of }: { readonly of: number }) => (
  <span class="part" aria-hidden="true">
    <span style={{ width: `${of * 100}%` }} />
  </span>
)
