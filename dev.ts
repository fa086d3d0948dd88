/**
 * `npm run dev`: the server, begun anew when one of its files changes, and Vite's server of the page, which reloads itself and passes
 * the API on. `--inspect…` goes to the server's Node, all else to `start`. Ctrl-C ends both.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { join } from 'node:path'
import { createServer } from 'vite'

const ROOT = import.meta.dirname
const WATCHED = ['shared', 'gateway', 'consumers', 'views', 'deploy']
/** Editors write a file in several steps, and several files at once. */
const SETTLED_AFTER_MS = 100
const PROXIED = ['/api', '/v1', '/ingest', '/health', '/metrics', '/docs', '/openapi.json']

const { PORT = '8080', DATA_DIR = './data/dev' } = process.env
const args = process.argv.slice(2)
const isForNode = (arg: string): boolean => arg.startsWith('--inspect')
const command = [...args.filter(isForNode), 'deploy/main.ts', 'start', ...args.filter((arg) => !isForNode(arg))]

function startServer(): ChildProcess {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...command], {
    cwd: ROOT,
    env: { ...process.env, PORT, DATA_DIR },
    stdio: 'inherit',
    // Out of the terminal's group: Ctrl-C reaches it once, through this process, since a second signal would cut its drain short.
    detached: true,
  })
}

async function stopServer(): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  server.kill('SIGTERM')
  await once(server, 'exit')
}

let server = startServer()
let restarted = Promise.resolve()
let ending = false

async function restart(): Promise<void> {
  await stopServer()
  if (!ending) server = startServer()
}

let settled: NodeJS.Timeout | undefined
const watchers = WATCHED.map((folder) =>
  watch(join(ROOT, folder), { recursive: true }, (_event, file) => {
    if (!file?.endsWith('.ts') || (folder === 'views' && file.startsWith('web'))) return
    clearTimeout(settled)
    settled = setTimeout(() => {
      restarted = restarted.then(restart)
    }, SETTLED_AFTER_MS)
  }),
)

const page = await createServer({
  root: join(ROOT, 'views/web'),
  server: { proxy: Object.fromEntries(PROXIED.map((path) => [path, `http://127.0.0.1:${PORT}`])) },
})
await page.listen()
process.stdout.write(`The page, which reloads itself: ${page.resolvedUrls?.local[0]}\n`)

async function end(): Promise<void> {
  ending = true
  clearTimeout(settled)
  for (const each of watchers) each.close()
  await page.close()
  await restarted
  await stopServer()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Further signals are ignored: without this process, nothing would stop the server.
  process.on(signal, () => {
    if (!ending) void end().then(() => process.exit())
  })
}
