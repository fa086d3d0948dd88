import { useMemo, useState } from 'preact/hooks'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { countText, plural, visible } from '../../flow-layout/format.ts'
import { payloadLine } from '../../flow-layout/payload.ts'
import { durationText } from '../../flow-layout/times.ts'
import type { Group, Groups, Histogram } from '../../schemas/answers.ts'
import { Failed } from '../api/failed.tsx'
import { useAnswers, useFetch } from '../api/use-fetch.ts'
import { LEVEL_LOOKS } from '../lib/levels.ts'
import { agoText, iso } from '../lib/times.ts'
import { Busy } from '../ui/busy.tsx'
import { Button } from '../ui/button.tsx'
import { LevelTag } from '../ui/level.tsx'
import { Select } from '../ui/select.tsx'
import { useNow } from '../ui/time.tsx'
import { hrefTo, rowsToReturn, useAddress, useReturn } from '../ui/use-address.ts'
import { useKeys, walk } from '../ui/use-keys.ts'
import { folderOf } from './facts.ts'
import type { AddressParams } from './filters.ts'
import { Empty } from './list.tsx'
import {
  EARLIER,
  FURTHER_GROUPS,
  GROUP_PARAMETERS,
  GROUP_SORT,
  GROUP_SORTS,
  type Grouping,
  groupsName,
  ungroupedText,
} from './texts.ts'
import { lengthOf } from './time-spans.ts'

/** Number of groups shown at first, and the maximum. */
const SHOWN = 50
const SHOWN_MAX = 200

interface GroupListProps {
  readonly kind: EntryKind
  readonly by: Grouping
  /** The list's parameters: the same object while the same logs are counted again. */
  readonly filter: AddressParams
  /** The same, with the counted range. */
  readonly counted: AddressParams
  readonly onChange: (params: AddressParams) => void
}

/** The logs in groups, largest or newest first; each links to its logs. */
export function GroupList({ kind, by, filter, counted, onChange }: GroupListProps) {
  const [groups, setGroups] = useState(() => (rowsToReturn() > SHOWN ? SHOWN_MAX : SHOWN))
  const path = `/api/${folderOf(kind)}/groups`
  const { data, loading, problem, reload } = useFetch<Groups>(path, { ...counted, by, groups })
  const isCurrent = useAnswers(data, filter)
  const earlier = useEarlier(data?.items.length ? kind : undefined, by, filter, counted)
  useReturn(data)
  const now = useNow()
  const { sort = '' } = useAddress().params
  useKeys({
    j: { what: 'Next group', run: () => walk('.groups a', 1) },
    k: { what: 'Previous group', run: () => walk('.groups a', -1) },
  })
  // The answer to an earlier grouping is not shown while the current one is loading.
  const answer = data?.by === by ? data : undefined
  const items = answer?.items ?? []
  return (
    <section class={`panel list grow ${problem === undefined && isCurrent ? '' : 'stale'}`} aria-label={groupsName(by)}>
      <Busy on={loading} />
      <Failed problem={problem} reload={reload} instead={answer === undefined} />
      {answer !== undefined && items.length === 0 && answer.ungrouped === 0 && !loading && (
        <Empty kind={kind} filter={counted} onChange={onChange} />
      )}
      {answer !== undefined && (
        <>
          {items.length > 1 && (
            <div class="bar chart-bar">
              <Select
                label={GROUP_SORT}
                options={GROUP_SORTS}
                value={sort}
                onChange={(chosen) => onChange({ sort: chosen || undefined })}
              />
            </div>
          )}
          <ol class="groups">
            {(sort === '' ? items : items.toSorted(byFirst)).map((group) => (
              <Row key={group.value} group={group} by={by} now={now} earlier={earlier} />
            ))}
          </ol>
          <Rest answer={answer} by={by} onMore={groups < SHOWN_MAX ? () => setGroups(SHOWN_MAX) : undefined} />
        </>
      )}
    </section>
  )
}

/** The groups in the time of the same length before. */
interface Earlier {
  /** The length of that time in words. */
  readonly length: string
  /** The number of a group's logs in that time; undefined if it is not known. */
  countOf(value: string): number | undefined
}

/** Undefined while it is not known, if the range has an open end, and if the Team has no log at all of that time; `kind` is undefined to wait. */
function useEarlier(
  kind: EntryKind | undefined,
  by: Grouping,
  filter: AddressParams,
  counted: AddressParams,
): Earlier | undefined {
  const length = lengthOf(counted)
  const from = counted['from'] ?? ''
  const range = length !== undefined && { from: iso(Date.parse(from) - length), to: from }
  const path = kind && range && `/api/${folderOf(kind)}`
  const { data } = useFetch<Groups>(path ? `${path}/groups` : null, { ...counted, ...range, by, groups: SHOWN_MAX })
  const isAnswered = useAnswers(data, filter)
  const counts = useMemo(() => new Map(data?.items.map(({ value, count }) => [value, count])), [data])
  // Without a match it may be that nothing was logged yet, when everything would be new.
  const isEmpty = data !== undefined && counts.size === 0 && data.ungrouped === 0
  const all = useFetch<Histogram>(path && isEmpty ? `${path}/histogram` : null, { ...range, buckets: 1 }).data
  if (!isAnswered || length === undefined || data === undefined || (isEmpty && !all?.total)) return undefined
  return { length: durationText(length), countOf: (value) => counts.get(value) ?? (data.more ? undefined : 0) }
}

/** New groups come first: those whose first log is the latest. */
const byFirst = (a: Group, b: Group): number => Date.parse(b.firstAt) - Date.parse(a.firstAt)

interface RestProps extends Pick<GroupListProps, 'by'> {
  readonly answer: Groups
  /** Undefined if the maximum is shown. */
  readonly onMore: (() => void) | undefined
}

/** A note about further groups, and about logs in none. */
function Rest({ answer: { more, ungrouped }, by, onMore }: RestProps) {
  if (!more && ungrouped === 0) return null
  return (
    <div class="more">
      {more && onMore !== undefined && <Button label={`Show up to ${SHOWN_MAX}`} class="small" onClick={onMore} />}
      {more && onMore === undefined && <p class="muted small">{FURTHER_GROUPS}</p>}
      {ungrouped > 0 && <p class="muted small">{ungroupedText(by, ungrouped)}</p>}
    </div>
  )
}

interface RowProps {
  readonly group: Group
  readonly by: Grouping
  /** Milliseconds since 1970. */
  readonly now: number
  readonly earlier: Earlier | undefined
}

function Row({ group, by, now, earlier }: RowProps) {
  const { value, label, detail, count, firstAt, lastAt, worstLevel, sample } = group
  const before = earlier?.countOf(value)
  const length = earlier?.length ?? ''
  const isStep = by === 'step'
  // Steps of several Events may have the same name.
  const below = isStep ? [value, payloadLine(sample.message)] : [...(detail?.split('\n', 1) ?? []), sample.message]
  // A Step takes the place of its Event.
  const chosen = { [GROUP_PARAMETERS[by]]: value, ...(isStep && { event: undefined }) }
  return (
    <li data-id={value}>
      <a href={hrefTo({ params: { ...chosen, group: undefined, id: undefined } })}>
        <LevelTag level={worstLevel} />
        <span class="what">
          <bdi class="cut" title={visible(label)}>
            {visible(label)}
          </bdi>
          <bdi class="cut muted small" title={visible(detail ?? sample.message)}>
            {visible(below.join(' · '))}
          </bdi>
        </span>
        <Sparkline group={group} />
        <b class="num" title={plural(count, 'log')}>
          {countText(count)}
          <span class="hidden"> {count === 1 ? 'log' : 'logs'}, </span>
        </b>
        <span class="seen muted small">
          <time dateTime={lastAt} title={lastAt}>
            last {agoText(lastAt, now)}
          </time>
          {before ? (
            <span>{EARLIER.count(before, length)}</span>
          ) : (
            <span>
              <time dateTime={firstAt} title={firstAt}>
                first {agoText(firstAt, now)}
              </time>{' '}
              {before === 0 && (
                <span class="badge warn" title={EARLIER.none(length)}>
                  {EARLIER.fresh}
                  <span class="hidden">, {EARLIER.none(length)}</span>
                </span>
              )}
            </span>
          )}
        </span>
      </a>
    </li>
  )
}

/** The counts over the shown time, relative to the group's own maximum. */
function Sparkline({ group: { counts, worstLevel } }: Pick<RowProps, 'group'>) {
  const highest = Math.max(...counts)
  return (
    <svg class="spark" viewBox={`0 0 ${counts.length} 1`} preserveAspectRatio="none" aria-hidden="true">
      {counts.map((count, index) => {
        // At least one of twelve pixels, so that a single log is visible.
        const height = count === 0 ? 0 : Math.max(1 / 12, count / highest)
        return (
          <rect
            key={index}
            x={index + 0.1}
            y={1 - height}
            width={0.8}
            height={height}
            fill={LEVEL_LOOKS[worstLevel].fill}
          />
        )
      })}
    </svg>
  )
}
