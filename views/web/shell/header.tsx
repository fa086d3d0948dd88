import { useEffect, useRef } from 'preact/hooks'
import { systemClock } from '../../../shared/runtime/clock.ts'
import { countText, shortCount } from '../../flow-layout/format.ts'
import { PAGES } from '../../pages.ts'
import { loadSession, refusedCount, session, signOut } from '../api/session.ts'
import { zoneText } from '../lib/times.ts'
import { BASE } from '../ui/base.ts'
import { Button, Icon, IconButton } from '../ui/button.tsx'
import { Popover } from '../ui/popover.tsx'
import { Segments } from '../ui/segments.tsx'
import { useStore } from '../ui/store.ts'
import { setTheme, THEMES, theme } from '../ui/theme.ts'
import { toggleUtc, useUtc } from '../ui/time.tsx'
import { hrefTo, useAddress } from '../ui/use-address.ts'
import { useEvery } from '../ui/use-every.ts'
import { keyName } from '../ui/use-keys.ts'
import { openHelp } from './keyboard.tsx'
import { openPalette } from './palette.tsx'
import { PALETTE } from './texts.ts'

const intoSight = (link: Element | null | undefined): void =>
  link?.scrollIntoView({ block: 'nearest', inline: 'nearest' })

/** Interval for counting refusals again, in milliseconds. */
const LOOK_MS = 60_000

export function Header() {
  const { path } = useAddress()
  const signedIn = useStore(session)
  const { team } = signedIn
  const refused = refusedCount(signedIn)
  useEvery(LOOK_MS, () => void loadSession(), signedIn.state === 'in')
  const utc = useUtc()
  const nav = useRef<HTMLElement>(null)
  // Scrolls the current page's link into view if the navigation is too narrow.
  useEffect(() => {
    intoSight(nav.current?.querySelector('[aria-current]'))
  }, [path[0], team])
  return (
    <header class="top">
      <a class="brand" href={hrefTo({ path: ['event-logs'] })} aria-label="Sluice, event logs">
        <Brand />
      </a>
      {team !== null && (
        // Browsers leave a focused link where it is if a part of it is in sight.
        <nav class="nav" ref={nav} aria-label="Pages" onFocusIn={({ target }) => intoSight(target as Element)}>
          {PAGES.map((page) => (
            <a
              key={page.path}
              href={hrefTo({ path: [page.path] })}
              aria-current={path[0] === page.path ? 'page' : undefined}
            >
              {page.name}
              {page.path === 'refused' && refused > 0 && (
                <span class="badge bad" title={`${countText(refused)} within a day`}>
                  {shortCount(refused)}
                </span>
              )}
            </a>
          ))}
        </nav>
      )}
      <div class="tools">
        <Button class="quiet small" onClick={toggleUtc} title="Show times in UTC or in your zone (u)">
          <Icon name="clock" />
          {utc ? (
            'UTC'
          ) : (
            <span>
              <span class="wide-only">Local </span>
              {zoneText(false, systemClock.now())}
            </span>
          )}
        </Button>
        {team !== null && (
          <IconButton
            icon="search"
            label={`${PALETTE.all.title} (${keyName('Ctrl+k')})`}
            onClick={() => openPalette('all')}
          />
        )}
        <IconButton icon="keyboard" class="quiet small help" label="Keyboard (?)" onClick={openHelp} />
        {team !== null && <TeamMenu name={team.name} />}
      </div>
    </header>
  )
}

function TeamMenu({ name }: { readonly name: string }) {
  const { keyPrefix } = useStore(session)
  const chosen = useStore(theme)
  return (
    <Popover
      class="button small team"
      align="end"
      label={
        <>
          <span class="avatar" aria-hidden="true">
            {[...name][0]?.toUpperCase()}
          </span>
          <span class="cut isolate">{name}</span>
          <Icon name="down" />
        </>
      }
    >
      {(close) => (
        <>
          <p class="who">
            <b class="isolate">{name}</b>
            <br />
            <span class="muted small">
              signed in with <span class="mono">{keyPrefix}…</span>
            </span>
          </p>
          <hr />
          <div class="theme">
            <Segments label="Theme" options={THEMES} value={chosen} onChange={setTheme} />
          </div>
          <hr />
          <a href={hrefTo({ path: ['team'] })} onClick={close}>
            Team settings
          </a>
          <a href={`${BASE}docs/`}>API</a>
          <button
            type="button"
            onClick={() => {
              close()
              openHelp()
            }}
          >
            Keyboard <kbd>?</kbd>
          </button>
          <hr />
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        </>
      )}
    </Popover>
  )
}

export const Brand = () => (
  <>
    <img src={`${BASE}assets/icon.svg`} width="22" height="22" alt="" />
    <span>Sluice</span>
  </>
)
