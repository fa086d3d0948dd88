/**
 * `npm run bench:page`: measures the page's list in a browser, and prints the results. With `--write` they become a section of
 * docs/performance.md.
 */
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { pause } from '../../shared/runtime/waiting.ts'
import { createOpener, findChromium, launchChromium, NO_CHROMIUM } from '../../test/support/open-page.ts'
import { LOGS_KEY, type LogsServer, startLogsServer } from '../../test/support/page-logs.ts'
import { median, table, whole } from '../numbers.ts'
import { writeSection } from '../sections.ts'

const HELP = `npm run bench:page -- [OPTIONS]

Scrolls through a list, and leaves a live list open, in the Chromium on the path, without a window.

  --rows N         Rows to scroll through. Default 20000.
  --minutes N      How long the live list is left open. Default 5.
  --rate N         Logs a second that arrive in it. Default 50.
  --write          Writes the figures into docs/performance.md.
`

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '20000' },
    minutes: { type: 'string', default: '5' },
    rate: { type: 'string', default: '50' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

/** Pixels scrolled per frame: a fast flick of the wheel. */
const STEP_PX = 150
/** Requests per second; their size follows from the rate. */
const SENDS_A_SECOND = 10
/** The shortest main-thread task that a user would notice, in milliseconds. */
const LONG_TASK_MS = 100
const MIB = 1024 * 1024

const logOf = (index: number) => ({
  message: `Order ${index} took ${index % 900} ms at station ${index % 17}`,
  categoryName: `Acme.Shop.Part${index % 7}.Worker${index % 3}`,
  level: index % 40 === 0 ? 'Error' : index % 11 === 0 ? 'Warning' : 'Information',
  eventId: 2_000 + (index % 9),
  eventName: 'OrderTimed',
  correlationKey: index % 3 === 0 ? `order-${index % 5_000}` : null,
  scopeData: { tenant: index % 2 === 0 ? 'acme' : 'globex', RequestId: `0HN${index}`, attempt: index % 4 },
})

/** The page's frames, long tasks and memory over a time span. */
interface Figures {
  /** The median frame rate, and the rate of the slowest 5 % of frames. */
  readonly fps: number
  readonly slowFps: number
  /** The number of tasks longer than `LONG_TASK_MS`, and the duration of the longest task, in milliseconds. */
  readonly longTasks: number
  readonly longestMs: number
  /** The page's heap after garbage collection, in MiB. */
  readonly heapMiB: number
  readonly nodes: number
}

/** Starts recording frames and long tasks in the page, in `window.noted`. */
const NOTE = `(() => {
  window.noted = { frames: [], tasks: [] }
  if (window.noting) return
  window.noting = true
  let last = performance.now()
  const frame = (now) => {
    window.noted.frames.push(now - last)
    last = now
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
  new PerformanceObserver((list) => {
    window.noted.tasks.push(...list.getEntries().map(({ duration }) => duration))
  }).observe({ entryTypes: ['longtask'] })
})()`

async function measured(page: Page, work: () => Promise<unknown>): Promise<Figures> {
  await page.evaluate(NOTE)
  await work()
  const { frames, tasks } = await page.evaluate<{ frames: number[]; tasks: number[] }>('window.noted')
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('HeapProfiler.collectGarbage')
  const heap = await page.evaluate<number>('performance.memory.usedJSHeapSize')
  await devtools.detach()
  const byLength = frames.toSorted((a, b) => a - b)
  return {
    fps: 1_000 / median(frames),
    slowFps: 1_000 / (byLength[Math.floor(byLength.length * 0.95)] ?? Number.NaN),
    longTasks: tasks.filter((ms) => ms > LONG_TASK_MS).length,
    longestMs: Math.max(0, ...tasks),
    heapMiB: heap / MIB,
    nodes: await page.evaluate<number>('document.querySelectorAll("*").length'),
  }
}

/** Scrolls one step per frame until the expression `done` holds. */
const scroll = (page: Page, step: number, done: string): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    const go = () => {
      if (${done}) return resolve()
      scrollBy(0, ${step})
      requestAnimationFrame(go)
    }
    go()
  })`)

const LAST_ROW = '[...document.querySelectorAll("tr.log")].at(-1)?.ariaRowIndex - 1'

async function scrolling(server: LogsServer, page: Page, rows: number): Promise<readonly (readonly string[])[]> {
  for (let at = 0; at < rows; at += 1_000)
    await server.applications(Array.from({ length: Math.min(1_000, rows - at) }, (_, index) => logOf(at + index)))
  await server.total('application', rows)
  await page.goto(`${server.url}/application-logs?columns=level,category,scope.tenant,message,correlationKey`)
  await page.locator('tr.log').first().waitFor()
  const down = await measured(page, () => scroll(page, STEP_PX, `${LAST_ROW} >= ${rows}`))
  const up = await measured(page, () => scroll(page, -STEP_PX, 'scrollY === 0'))
  return [rowOf(`down through ${whole(rows)} rows, which are read on the way`, down), rowOf('up again', up)]
}

async function living(server: LogsServer, page: Page, minutes: number, rate: number) {
  await page.goto(`${server.url}/application-logs?live=1`)
  await page.locator('.tail.live').waitFor()
  let sent = 0
  const begin = performance.now()
  const send = async (until: number): Promise<void> => {
    for (; performance.now() < until; ) {
      const due = Math.floor(((performance.now() - begin) / 1_000) * rate)
      if (due > sent) {
        const from = sent
        sent = due
        await server.applications(Array.from({ length: due - from }, (_, index) => logOf(from + index)))
      }
      await pause(1_000 / SENDS_A_SECOND)
    }
  }
  const rows: (readonly string[])[] = []
  for (let minute = 1; minute <= minutes; minute += 1) {
    const figures = await measured(page, () => send(begin + minute * 60_000))
    rows.push(rowOf(`minute ${minute} of a live list, ${rate} logs/s`, figures))
    process.stdout.write(`minute ${minute}: ${whole(sent)} logs sent\n`)
  }
  return rows
}

const rowOf = (what: string, { fps, slowFps, longTasks, longestMs, heapMiB, nodes }: Figures): readonly string[] => [
  what,
  whole(fps),
  whole(slowFps),
  String(longTasks),
  whole(longestMs),
  heapMiB.toFixed(1),
  whole(nodes),
]

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(HELP)
  const executable = findChromium()
  if (executable === undefined) throw new Error(NO_CHROMIUM)
  const load = loadavg()[0] ?? 0
  const server = await startLogsServer()
  const browser = await launchChromium(executable)
  try {
    const { page } = await createOpener(browser)(server.url, { key: LOGS_KEY, width: 1_280, height: 900 })
    page.setDefaultTimeout(0)
    const rows = [
      ...(await scrolling(server, page, Number(values.rows))),
      ...(await living(server, page, Number(values.minutes), Number(values.rate))),
    ]
    const head = [
      'what',
      'frames/s, median',
      'frames/s, slowest 5 %',
      'tasks > 100 ms',
      'longest task, ms',
      'heap MiB',
      'elements',
    ]
    const body = `Written by \`npm run bench:page\`: the list of application logs in Chromium ${browser.version()} without a window, which draws at most 60
frames/s, beside the embedded Sluice that serves it. A scroll goes ${STEP_PX} pixels a frame. The heap is taken after a collection; elements are those of the
whole page.

${table(head, rows)}
${cpus().length} cores shared by all of it, load average before the run ${load.toFixed(1)}.`
    process.stdout.write(`\n${body}\n`)
    if (values.write) writeSection(join(import.meta.dirname, '../../docs/performance.md'), 'The page', body)
  } finally {
    await browser.close()
    await server.close()
  }
}

await main()
