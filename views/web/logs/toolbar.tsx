import { LEVELS, type Level, levelRank } from '../../../shared/contract/levels.ts'
import type { EntryKind } from '../../../shared/contract/records.ts'
import { countText, plural, shortCount, visible } from '../../flow-layout/format.ts'
import type { FacetValue } from '../../schemas/answers.ts'
import { urlOf } from '../api/client.ts'
import { LEVEL_LOOKS } from '../lib/levels.ts'
import { Button, Icon } from '../ui/button.tsx'
import { copy } from '../ui/copy.tsx'
import { LevelMark } from '../ui/level.tsx'
import { Popover } from '../ui/popover.tsx'
import { Select } from '../ui/select.tsx'
import { type Column, csvColumns } from './columns.ts'
import { folderOf } from './facts.ts'
import { listLink } from './links.ts'
import { EXPORT, LEVEL_BAR } from './texts.ts'
import type { LogRows } from './use-rows.ts'

interface EnvironmentProps {
  readonly environment: string | undefined
  readonly values: readonly FacetValue[]
  readonly onEnvironment: (environment: string | undefined) => void
}

/** Production is highlighted, so that it cannot be mistaken for another environment. */
export const isProduction = (environment: string | undefined): boolean => /^prod|^live$/i.test(environment ?? '')

export function EnvironmentSwitch({ environment = '', values, onEnvironment }: EnvironmentProps) {
  const known = values.some(({ value }) => value === environment) || environment === ''
  const all = known ? values : [{ value: environment, count: 0 }, ...values]
  return (
    <Select
      label="Environment"
      class={`environment ${isProduction(environment) ? 'production' : ''}`}
      options={[
        ['', 'All environments'],
        ...all.map(({ value, count }) => [value, `${visible(value)} (${countText(count)})`] as const),
      ]}
      value={environment}
      onChange={(chosen) => onEnvironment(chosen || undefined)}
    />
  )
}

const LIVE_NAMES = { off: 'Live', connecting: 'Connecting', live: 'Live', away: 'Reconnecting' } as const

interface LiveProps extends Pick<LogRows, 'live'> {
  /** Whether new entries are held back while the reader is further down. */
  readonly paused?: boolean
  readonly small?: boolean
  readonly onLive: () => void
}

/** Switches the display of new entries on arrival. */
export const LiveSwitch = ({ live, paused = false, small = false, onLive }: LiveProps) => (
  <Button
    class={`tail ${live === 'live' && paused ? 'paused' : live} ${small ? 'small' : ''}`}
    aria-pressed={live !== 'off'}
    title={live === 'off' ? 'Show logs as they come (t)' : 'Stop showing logs as they come (t)'}
    onClick={onLive}
  >
    <i />
    {live === 'live' && paused ? 'Paused' : LIVE_NAMES[live]}
  </Button>
)

interface ShareProps {
  readonly kind: EntryKind
  readonly list: LogRows
  readonly total: number | undefined
  readonly columns: readonly Column[]
}

/** Exports of the list, and a link to it. */
export function ShareMenu({ kind, list: { filter, order, askedAt }, total, columns }: ShareProps) {
  const href = (format: string, chosen?: string): string =>
    urlOf(`/api/${folderOf(kind)}/export`, { ...filter, order, format, columns: chosen })
  return (
    <Popover
      label={
        <>
          <Icon name="download" /> <span class="wide-only">Share</span>
        </>
      }
      name="Export and share"
      title="Export and share"
      align="end"
    >
      {(close) => (
        <>
          <p class="who muted small">{total === undefined ? 'All matches' : `All ${countText(total)} matches`}</p>
          {[
            [EXPORT.ndjson, href('ndjson')],
            [EXPORT.shown, href('csv', csvColumns(columns))],
            [EXPORT.csv, href('csv')],
          ].map(([name, url]) => (
            <a key={name} href={url} download onClick={close}>
              {name}
            </a>
          ))}
          <hr />
          <button
            type="button"
            onClick={() => {
              close()
              void copy(listLink(askedAt), 'The link')
            }}
          >
            Copy the link <kbd>l</kbd>
          </button>
        </>
      )}
    </Popover>
  )
}

/** The number of entries, and how long the answer took. */
export const Found = ({
  total,
  tookMs,
}: {
  readonly total: number | undefined
  readonly tookMs: number | undefined
}) => (
  <span class="found muted nowrap num" role="status">
    {total !== undefined && <b>{plural(total, 'log')}</b>}{' '}
    {tookMs !== undefined && <span class="wide-only">in {countText(Math.max(1, Math.round(tookMs)))} ms</span>}
  </span>
)

/** The range of shown levels; undefined for an open end. */
interface LevelRange {
  readonly level: Level | undefined
  readonly levelMax: Level | undefined
}

interface LevelBarProps extends LevelRange {
  /** Counts of all levels, regardless of the chosen ones; undefined while unknown. */
  readonly counts: readonly FacetValue[] | undefined
  readonly onLevels: (range: LevelRange) => void
}

const ALL: LevelRange = { level: undefined, levelMax: undefined }

/** The levels with their counts: a click filters by one, a second click shows all; a level can be shown with all more severe ones. */
export const LevelBar = ({ level, levelMax, counts, onLevels }: LevelBarProps) => (
  <fieldset class="levels" aria-label={LEVEL_BAR.name}>
    {LEVELS.map((each) => {
      const count = counts && (counts.find(({ value }) => value === each)?.count ?? 0)
      const rank = levelRank(each)
      const included = rank >= levelRank(level ?? 'Trace') && rank <= levelRank(levelMax ?? 'Critical')
      return (
        <button
          key={each}
          type="button"
          class={included ? 'chip' : 'chip off'}
          aria-pressed={each === level}
          title={each === level ? LEVEL_BAR.all : LEVEL_BAR.only(each)}
          onClick={() => onLevels(each === level ? ALL : { level: each, levelMax: each })}
        >
          <span class="level" style={{ color: LEVEL_LOOKS[each].colour }}>
            <LevelMark level={each} />
            {LEVEL_LOOKS[each].tag}
          </span>
          <span class="num">{count !== undefined && shortCount(count)}</span>
        </button>
      )
    })}
    {level !== undefined && level !== 'Critical' && (
      <button
        type="button"
        class="chip"
        aria-pressed={levelMax === undefined}
        title={LEVEL_BAR.above}
        onClick={() => onLevels({ level, levelMax: levelMax === undefined ? level : undefined })}
      >
        {LEVEL_BAR.above}
      </button>
    )}
  </fieldset>
)
