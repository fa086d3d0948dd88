import { useEffect, useRef } from 'preact/hooks'
import { PAGES } from '../pages.ts'
import { loadSession, session } from './api/session.ts'
import { FlowPage } from './flow/flow-page.tsx'
import { FlowsPage } from './flow/flows-page.tsx'
import { LogsPage } from './logs/logs-page.tsx'
import { RefusedPage } from './refused/refused-page.tsx'
import { Banner } from './shell/banner.tsx'
import { Header } from './shell/header.tsx'
import { Help, useGoKeys } from './shell/keyboard.tsx'
import { Palette } from './shell/palette.tsx'
import { SignInDialog, SignInPage } from './shell/sign-in.tsx'
import { SKIP } from './shell/texts.ts'
import { Busy } from './ui/busy.tsx'
import { Uncopied } from './ui/copy.tsx'
import { part } from './ui/part.tsx'
import { useStore } from './ui/store.ts'
import { Toasts } from './ui/toast.tsx'
import { followLinks, go, useAddress } from './ui/use-address.ts'

followLinks(PAGES.map(({ path }) => path))

const TeamPage = part(() => import('./team-pages.ts').then((module) => module.TeamPage))
const WatchesPage = part(() => import('./team-pages.ts').then((module) => module.WatchesPage))

/** The default page. */
const START = 'event-logs'

/** The page: the session decides what is visible, and the address which part of it. */
export function App() {
  const { state, team } = useStore(session)
  useEffect(() => void loadSession(), [])
  if (state === 'out') return <SignInPage />
  return (
    <>
      <a class="skip button" href="#main">
        {SKIP.content}
      </a>
      <button type="button" class="skip button" onClick={toFirstRow}>
        {SKIP.list}
      </button>
      <Header />
      <Banner />
      {/* Switching Teams resets all state. */}
      <main id="main" class="main" tabIndex={-1} key={team?.id ?? ''}>
        {team === null ? <Busy on /> : <Part />}
      </main>
      <Help />
      {team !== null && <Palette />}
      {state === 'over' && <SignInDialog />}
      <Uncopied />
      <Toasts />
    </>
  )
}

/** Focuses the first row of the page's list, skipping its filters; the main area if there is no row. */
function toFirstRow(): void {
  const controls = document.querySelectorAll<HTMLElement>('#main :is(tbody :is(a, button), summary)')
  const first = [...controls].find((control) => control.checkVisibility() && control.closest('figure') === null)
  ;(first ?? document.getElementById('main'))?.focus()
}

function Part() {
  const { path, params } = useAddress()
  const [page = '', key] = path
  useGoKeys()
  useTitle(page, key ?? ['q', 'level', 'category', 'environment'].flatMap((name) => params[name] ?? []).join(' '))
  useFocus(path.join('/'))
  const known = PAGES.some((one) => one.path === page)
  useEffect(() => {
    if (!known) go({ path: [START] }, 'replace')
  }, [known])
  switch (page) {
    case 'event-logs':
      return <LogsPage kind="event" key="event" />
    case 'application-logs':
      return <LogsPage kind="application" key="application" />
    case 'flows':
      return key === undefined ? <FlowsPage /> : <FlowPage correlationKey={key} key={key} />
    case 'team':
      return <TeamPage />
    case 'refused':
      return <RefusedPage />
    case 'watches':
      return <WatchesPage />
    default:
      return null
  }
}

/** Moves the focus to another page once it is shown, for screen readers and the keyboard. */
function useFocus(page: string): void {
  const before = useRef(page)
  useEffect(() => {
    if (before.current !== page && before.current !== '')
      document.getElementById('main')?.focus({ preventScroll: true })
    before.current = page
  }, [page])
}

/** Tells tabs, and the steps of a browser's history, apart by what they show: a flow's key, or what selects the logs of a list. */
function useTitle(page: string, shown: string | undefined): void {
  useEffect(() => {
    const name = PAGES.find(({ path }) => path === page)?.name
    document.title = [shown, name, 'Sluice'].filter(Boolean).join(' · ')
  }, [page, shown])
}
