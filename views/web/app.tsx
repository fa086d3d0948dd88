import { useEffect, useRef } from 'preact/hooks'
import { loadSession, session } from './session/session.ts'
import { SignInDialog, SignInPage } from './session/sign-in.tsx'
import { Banner } from './shell/banner.tsx'
import { GoToFlow } from './shell/go-to-flow.tsx'
import { Header } from './shell/header.tsx'
import { Help } from './shell/help.tsx'
import { PAGES, START } from './shell/pages.ts'
import { useGoKeys } from './shell/use-go-keys.ts'
import { Uncopied } from './ui/copy.tsx'
import { lazy } from './ui/lazy.tsx'
import { useStore } from './ui/store.ts'
import { Toasts } from './ui/toast.tsx'
import { followLinks, go, useAddress } from './ui/use-address.ts'

// Nobody waits for the code of a part that is not looked at.
const LogsPage = lazy(async () => (await import('./logs/logs-page.tsx')).LogsPage)
const FlowsPage = lazy(async () => (await import('./flow/flows-page.tsx')).FlowsPage)
const FlowPage = lazy(async () => (await import('./flow/flow-page.tsx')).FlowPage)
const TeamPage = lazy(async () => (await import('./team/team-page.tsx')).TeamPage)
const RefusedPage = lazy(async () => (await import('./refused/refused-page.tsx')).RefusedPage)

/** By then the part that one came for has asked for what it shows. */
const FETCH_PARTS_MS = 1_000

/** The other parts come once the first one stands, so that none is missing when the server is away. */
function fetchAllParts(): void {
  for (const part of [LogsPage, FlowsPage, FlowPage, TeamPage, RefusedPage]) part.load().catch(() => undefined)
}

followLinks(PAGES.map(({ path }) => path))

/** The page: who is signed in decides what there is to see, and the address which part of it. */
export function App() {
  const { state, team } = useStore(session)
  useEffect(() => void loadSession(), [])
  useEffect(() => {
    if (team === null) return
    const timer = setTimeout(fetchAllParts, FETCH_PARTS_MS)
    return () => clearTimeout(timer)
  }, [team === null])
  if (state === 'out') return <SignInPage />
  return (
    <>
      <a class="skip button" href="#main">
        Skip to the content
      </a>
      <Header />
      <Banner />
      {/* Another Team begins with nothing of the one before. */}
      <main id="main" class="main" tabIndex={-1} key={team?.id ?? ''}>
        {team !== null && <Part />}
      </main>
      <Help />
      <GoToFlow />
      {state === 'over' && <SignInDialog />}
      <Uncopied />
      <Toasts />
    </>
  )
}

function Part() {
  const [{ path }] = useAddress()
  const [page = '', key] = path
  useGoKeys()
  useTitle(page, key)
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
    default:
      return null
  }
}

/** Another page takes the focus, so that whoever reads by ear or moves by keyboard is in it. */
function useFocus(page: string): void {
  const before = useRef(page)
  useEffect(() => {
    if (before.current !== page && before.current !== '')
      document.getElementById('main')?.focus({ preventScroll: true })
    before.current = page
  }, [page])
}

function useTitle(page: string, key: string | undefined): void {
  useEffect(() => {
    const name = PAGES.find(({ path }) => path === page)?.name
    document.title = [key, name, 'Sluice'].filter((part) => part !== undefined).join(' · ')
  }, [page, key])
}
