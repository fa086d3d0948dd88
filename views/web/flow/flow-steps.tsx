import { nameOf } from '../../flow-layout/flow-log.ts'
import { visible } from '../../flow-layout/format.ts'
import { durationText } from '../../flow-layout/times.ts'
import type {
  ComparedStep,
  Flow,
  FlowComparison,
  FlowPage,
  FlowStatistics,
  FlowStep,
  StepStatistics,
} from '../../schemas/answers.ts'
import { Failed } from '../api/failed.tsx'
import { useFetch } from '../api/use-fetch.ts'
import { Button } from '../ui/button.tsx'
import { hrefTo } from '../ui/use-address.ts'
import { comparisonOf } from './flow-address.ts'
import { DIFFERENCES, STEPS } from './texts.ts'
import type { FlowView } from './use-flow-view.ts'

/** The range of flows to compare with; the server learns flow waits from the same range. */
const USUAL_FROM = 'now-7d'

/** A flow's Steps with the time that each took and usually takes and, if the address names another flow, the difference from it. */
export function FlowSteps({ view }: { readonly view: FlowView }) {
  const { brief, params } = view
  const { summary, steps } = brief
  const event = summary.events[0]?.identifier
  const other = params['compare']
  // A flow in several Events needs statistics of all of them; flows of one Event may lack the others.
  const only = summary.events.length === 1 ? event : undefined
  const usual = useFetch<FlowStatistics>(event === undefined ? null : '/api/flows/statistics', {
    event: only,
    from: USUAL_FROM,
  })
  const comparison = comparisonOf(summary.correlationKey, other ?? '')
  const compared = useFetch<FlowComparison>(other === undefined ? null : comparison.path, comparison.params)
  const statistics = new Map(
    usual.data?.items.flatMap((item) => item.steps.map((step) => [step.step.identifier, step] as const)),
  )
  const rows = other === undefined ? undefined : compared.data?.steps
  const failed = usual.problem === undefined ? compared : usual
  return (
    <section class="panel" aria-label={STEPS.title}>
      <div class="head">
        <h2>{STEPS.title}</h2>
        <span class="grow" />
        {other === undefined ? (
          event !== undefined && <Compare brief={brief} event={event} onOther={(key) => view.set({ compare: key })} />
        ) : (
          <>
            <span class="muted">
              beside <a href={hrefTo({ path: ['flows', other] })}>{visible(other)}</a>
            </span>
            <Button label={STEPS.stop} class="small" onClick={() => view.set({ compare: undefined })} />
          </>
        )}
      </div>
      <Failed problem={failed.problem} reload={failed.reload} />
      <div class="scroll">
        <table class="table steps">
          <thead>
            <tr>
              <th>{STEPS.step}</th>
              <th class="num">{STEPS.took}</th>
              {rows === undefined ? (
                <th>{STEPS.usual}</th>
              ) : (
                <>
                  <th class="num">{STEPS.other}</th>
                  <th>{STEPS.difference}</th>
                </>
              )}
            </tr>
          </thead>
          <tbody>
            {rows === undefined
              ? steps.map((step) => <Row key={keyOf(step)} step={step} usual={statistics.get(step.step.identifier)} />)
              : rows.map((row) => <ComparedRow key={keyOf(row)} row={row} />)}
          </tbody>
        </table>
      </div>
    </section>
  )
}

const keyOf = ({ event, step }: Pick<FlowStep, 'event' | 'step'>): string => `${event?.identifier} ${step.identifier}`

function Row({
  step: { step, seen, duration },
  usual,
}: {
  readonly step: FlowStep
  readonly usual: StepStatistics | undefined
}) {
  const times = usual?.duration
  return (
    <tr>
      <td class="cut">
        <bdi>{visible(nameOf(step))}</bdi>
      </td>
      <td class="num nowrap">
        {times && duration !== null && duration > times.p95 && <span class="badge warn">slow</span>}{' '}
        {seen ? duration !== null && durationText(duration) : <span class="muted">not seen</span>}
      </td>
      <td class="nowrap">
        {times && (
          <>
            {durationText(times.p50)} <span class="muted">to {durationText(times.p95)}</span>
          </>
        )}
      </td>
    </tr>
  )
}

function ComparedRow({ row: { step, flow, other, slowerBy, differences } }: { readonly row: ComparedStep }) {
  const took = (visit: ComparedStep['flow']) =>
    visit === null ? <span class="muted">not seen</span> : visit.duration !== null && durationText(visit.duration)
  return (
    <tr>
      <td class="cut">
        <bdi>{visible(nameOf(step))}</bdi>
      </td>
      <td class="num nowrap">{took(flow)}</td>
      <td class="num nowrap">{took(other)}</td>
      <td>
        {differences.map((one) => (
          <span key={one} class={`badge ${one === 'failed' || one === 'missing' ? 'bad' : 'warn'}`}>
            {DIFFERENCES[one]}
            {one === 'slower' && slowerBy !== null && ` by ${durationText(slowerBy)}`}
          </span>
        ))}
      </td>
    </tr>
  )
}

interface CompareProps {
  readonly brief: Flow
  readonly event: string
  readonly onOther: (correlationKey: string) => void
}

/** Compares with the latest finished flow of the Event, or with any other by its key. */
const Compare = (props: CompareProps) => (
  <form
    class="bar"
    onSubmit={(event) => {
      event.preventDefault()
      const key = String(new FormData(event.currentTarget).get('other')).trim()
      if (key !== '') props.onOther(key)
    }}
  >
    <CompareButton {...props} />
    <input
      class="input mono"
      name="other"
      aria-label={STEPS.with}
      placeholder={STEPS.with}
      maxLength={512}
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
    />
  </form>
)

function CompareButton({ brief, event, onOther }: CompareProps) {
  // Two flows are asked for, as one of them may be this one.
  const { data, problem, reload } = useFetch<FlowPage>('/api/flows', { event, state: 'finished', limit: 2 })
  const other = data?.items.find(({ correlationKey }) => correlationKey !== brief.summary.correlationKey)
  if (problem !== undefined) return <Failed problem={problem} reload={reload} />
  if (data !== undefined && other === undefined) return <span class="muted">{STEPS.noOther}</span>
  return (
    <Button
      label={STEPS.compare}
      class="small"
      disabled={other === undefined}
      onClick={() => other && onOther(other.correlationKey)}
    />
  )
}
