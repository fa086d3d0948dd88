import { useLayoutEffect, useState } from 'preact/hooks'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { visible } from '../../flow-layout/format.ts'
import { durationText } from '../../flow-layout/times.ts'
import type { Completion, Series } from '../../schemas/answers.ts'
import { GROUPED_BY } from '../../schemas/list-parameters.ts'
import type { Params } from '../api/client.ts'
import { Failed } from '../api/failed.tsx'
import { useAnswers, useFetch } from '../api/use-fetch.ts'
import { iso } from '../lib/times.ts'
import { Busy } from '../ui/busy.tsx'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/select.tsx'
import { changeSearch } from './change-search.ts'
import { ChartPlot, type Earlier } from './chart-plot.tsx'
import { CHART, FUNCTIONS } from './chart-texts.ts'
import { familyOf } from './columns.ts'
import { folderOf } from './facts.ts'
import { type AddressParams, type ChosenChart, NO_CHART } from './filters.ts'
import { Empty } from './list.tsx'
import { GROUP_PARAMETERS, isGrouping } from './texts.ts'
import { lengthOf } from './time-spans.ts'
import { BUCKETS } from './use-counts.ts'

/** Number of series drawn at first, and the maximum. */
const SERIES = 5
const SERIES_MAX = 10

interface ChartViewProps {
  readonly kind: EntryKind
  readonly chart: ChosenChart
  /** The list's parameters; suggested names come from the logs that they select. */
  readonly filter: AddressParams
  /** The same, with the counted range. */
  readonly counted: AddressParams
  /** The number of logs, if known. */
  readonly total: number | undefined
  readonly onChange: (params: AddressParams) => void
}

/** A number computed from the logs over time, as one line or as one per value of a field. */
export function ChartView(props: ChartViewProps) {
  const { kind, chart, filter, onChange } = props
  const { fn, value = '', by = '', before } = chart
  const length = lengthOf(props.counted)
  const family = familyOf(kind)
  const [sought, setSought] = useState('')
  const path = `/api/${folderOf(kind)}/completion`
  const numbers = useNames(path, { ...filter, q: useRested(sought), type: 'number' })
  const leaves = useNames(path, { ...filter, q: family, caret: family.length })
  const setValue = (text: string): void => {
    setSought('')
    const name = text === '' || text.startsWith(family) ? text : `${family}${text}`
    // A count of a numeric field is rarely wanted, so the average is the better default.
    onChange({ value: name, ...(value === '' && name !== '' && fn === 'count' && { chart: 'avg' }) })
  }
  const isAsked = fn === 'count' || value !== ''
  return (
    <section class="panel list grow" aria-label={CHART.name}>
      <div class="bar chart-bar">
        <Select label={CHART.fn} options={FUNCTIONS} value={fn} onChange={(next) => onChange({ chart: next })} />
        <NameInput
          name="value"
          label={CHART.of}
          placeholder={fn === 'count' ? CHART.logs : `${family}…`}
          names={numbers}
          text={value}
          onInput={setSought}
          onText={setValue}
        />
        <NameInput
          name="by"
          label={CHART.by}
          placeholder={CHART.everything}
          names={[...GROUPED_BY[kind].filter((one) => !one.endsWith('<key>')), ...leaves]}
          text={by}
          onText={(next) => onChange({ by: next })}
        />
        {length !== undefined &&
          BEFORE.filter((name) => name !== 'week' || length < WEEK_MS).map((name) => (
            <Button
              key={name}
              label={CHART.compare(durationText(shiftOf(name, length) ?? 0))}
              class="small"
              aria-pressed={shiftOf(before, length) === shiftOf(name, length)}
              onClick={() => onChange({ before: before === name ? undefined : name })}
            />
          ))}
      </div>
      {value === '' && (
        // It keeps its room while there are no names, so that they move nothing.
        <div class="bar chart-bar names">
          <span class={`muted small ${numbers.length > 0 ? 'nowrap' : ''}`}>
            {numbers.length > 0 ? (isAsked ? CHART.numbers : CHART.choose(visible(fn))) : !isAsked && CHART.noOthers}
          </span>
          <Names names={numbers} onName={setValue} />
        </div>
      )}
      {isAsked && <Answer key={[fn, value, by].join('\n')} {...props} names={numbers} onName={setValue} />}
    </section>
  )
}

const WEEK_MS = 7 * 86_400_000
/** The earlier times that a chart is compared with, as in the address: that of the same length before, or of a week before. */
const BEFORE = ['1', 'week'] as const

/** How much earlier, in milliseconds; undefined without a comparison. A week of a longer range would overlap it. */
const shiftOf = (before: string | undefined, length: number): number | undefined =>
  before === undefined ? undefined : before === 'week' ? Math.max(WEEK_MS, length) : length

/** Debounces input, as each request reads logs; in milliseconds. */
const REST_MS = 100

/** The text, once it has been stable for a moment. */
function useRested(text: string): string {
  const [rested, setRested] = useState(text)
  useLayoutEffect(() => {
    const timer = setTimeout(() => setRested(text), REST_MS)
    return () => clearTimeout(timer)
  }, [text])
  return rested
}

/** Names suggested by a completion. */
const useNames = (path: string, params: Params): readonly string[] =>
  useFetch<Completion>(path, params).data?.choices.map(({ label }) => label) ?? []

interface NameInputProps {
  readonly name: string
  readonly label: string
  readonly placeholder: string
  readonly names: readonly string[]
  readonly text: string
  readonly onInput?: (text: string) => void
  /** Called with the text once the user has chosen or finished it. */
  readonly onText: (text: string) => void
}

function NameInput({ name, label, placeholder, names, text, onInput, onText }: NameInputProps) {
  const [draft, setDraft] = useState(text)
  // A layout effect: a later effect would overwrite what is typed in the meantime.
  useLayoutEffect(() => setDraft(text), [text])
  const id = `chart-${name}`
  return (
    <label class="node">
      <span class="muted">{label}</span>
      <input
        class="input mono"
        list={id}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder={placeholder}
        value={draft}
        onInput={({ currentTarget }) => {
          setDraft(currentTarget.value)
          onInput?.(currentTarget.value.trim())
        }}
        onChange={({ currentTarget }) => onText(currentTarget.value.trim())}
      />
      <datalist id={id}>
        {names.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </label>
  )
}

interface NamesProps {
  readonly names: readonly string[]
  readonly onName: (name: string) => void
}

const Names = ({ names, onName }: NamesProps) => (
  <>
    {names.map((name) => (
      <button key={name} type="button" class="chip" onClick={() => onName(name)}>
        <bdi class="cut mono">{visible(name)}</bdi>
      </button>
    ))}
  </>
)

/** The lines of a chart as they were earlier; undefined while they are not known, or without a path. */
function useEarlier(
  path: string | null,
  { before, by }: ChosenChart,
  params: Params,
  counted: AddressParams,
  data: Series | undefined,
): Earlier | undefined {
  const apart = shiftOf(before, lengthOf(counted) ?? 0) ?? 0
  // Whole spans earlier, so that the points of both are of the same spans.
  const shift = data === undefined ? 0 : Math.ceil(apart / data.interval) * data.interval
  const earlier = (time = ''): string => iso(Date.parse(time) - shift)
  const range = shift > 0 && { from: earlier(counted['from']), to: earlier(counted['to']) }
  const series = by && SERIES_MAX
  const answer = useFetch<Series>(range ? path : null, { ...params, ...range, series }).data
  if (data === undefined || answer === undefined || answer.spans[0] !== earlier(data.spans[0])) return undefined
  const places = data.spans.map((start) => answer.spans.indexOf(earlier(start)))
  return {
    label: CHART.earlier(durationText(apart)),
    lineOf: (value) => {
      const line = answer.items.find((item) => item.value === value)
      if (line === undefined && answer.more) return undefined
      const none = data.fn === 'count' ? 0 : null
      return { count: line?.count ?? 0, points: places.map((place) => (line ? (line.points[place] ?? null) : none)) }
    },
  }
}

/** The chart returned by the API, or why there is nothing to draw. */
function Answer({ kind, chart, filter, counted, total, names, onName, onChange }: ChartViewProps & NamesProps) {
  const { fn, value, by, before } = chart
  const [most, setMost] = useState(SERIES)
  const path = `/api/${folderOf(kind)}/series`
  const params = { ...counted, ...{ fn, value, by, buckets: BUCKETS }, series: by === undefined ? undefined : most }
  const { data, loading, problem, reload } = useFetch<Series>(path, params)
  const isCurrent = useAnswers(data, filter)
  const earlier = useEarlier(before === undefined ? null : path, chart, params, counted, data)
  const isEmpty = data?.items.every(({ count }) => count === 0)
  return (
    <div class={problem === undefined && isCurrent ? '' : 'stale'}>
      <Busy on={loading} />
      <Failed problem={problem} reload={reload} instead={data === undefined} />
      {data === undefined && loading && <p class="empty muted">{CHART.loading}</p>}
      {data !== undefined && !isEmpty && (
        <>
          <ChartPlot
            series={data}
            counted={counted}
            earlier={earlier}
            onRange={(range, isPoint) => onChange({ ...range, ...(isPoint && NO_CHART), live: undefined })}
            onOnly={({ value: only, term }) => {
              if (term !== null) changeSearch('with', term)
              else if (isGrouping(by)) onChange({ [GROUP_PARAMETERS[by]]: only ?? undefined })
            }}
          />
          {data.more && by !== undefined && (
            <div class="more">
              {most < SERIES_MAX ? (
                <Button label={CHART.moreSeries(SERIES_MAX)} class="small" onClick={() => setMost(SERIES_MAX)} />
              ) : (
                <p class="muted small">{CHART.further(visible(by))}</p>
              )}
            </div>
          )}
        </>
      )}
      {isEmpty && !loading && total === 0 && <Empty kind={kind} filter={counted} onChange={onChange} />}
      {isEmpty && !loading && total !== 0 && (
        <div class="empty">
          <h2>{CHART.none(visible(value ?? ''), by && visible(by))}</h2>
          <p>{names.length === 0 ? CHART.noOthers : CHART.others}</p>
          <div class="bar">
            {by !== undefined && (
              <Button class="primary" onClick={() => onChange({ by: undefined })}>
                <span class="cut">{CHART.without(visible(by))}</span>
              </Button>
            )}
            <Names names={names} onName={onName} />
          </div>
        </div>
      )}
    </div>
  )
}
