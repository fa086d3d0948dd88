import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client } from '../../clients/typescript/src/index.ts'
import { createClient } from '../support/api.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { startBare } from '../support/raw-http.ts'
import { type SluiceProcess, serverFolder, startSluice } from '../support/sluice-process.ts'

const KEY = 'page-client-key-0123456789abcdef0123456'
const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const REGISTRY = `teams: [{ id: t, name: T, apiKeys: ["${KEY}"] }]
projects: [{ id: ${PROJECT}, team: t, name: P }]
`
const SOURCES = join(import.meta.dirname, '../../clients/typescript/src')

/** The page of an application, which imports the client. */
const pageOf = (url: string): string => `<!doctype html><link rel="icon" href="data:,"><script type="module">
import { createClient } from './src/index.ts'
window.dropped = []
window.client = createClient({
  url: '${url}', apiKey: '${KEY}', project: '${PROJECT}', maxDelayMs: 600_000, onDropped: (report) => dropped.push(report),
})
</script>`

declare const client: Client
declare const dropped: readonly unknown[]

describeWithBrowser('the TypeScript client in a page of another origin', (browse) => {
  const folder = serverFolder(REGISTRY)
  let application: Awaited<ReturnType<typeof startBare>>
  let origin: string
  let server: SluiceProcess

  beforeAll(async () => {
    application = await startBare(({ url = '/' }, response) => {
      const isSource = /^\/src\/[\w-]+\.ts$/.test(url)
      response.setHeader('content-type', isSource ? 'text/javascript' : 'text/html')
      response.end(
        isSource
          ? stripTypeScriptTypes(readFileSync(join(SOURCES, url.slice('/src/'.length)), 'utf8'))
          : pageOf(server.url),
      )
    })
    origin = `http://127.0.0.1:${application.port}`
    server = await startSluice({ ...folder.settings, CORS_ORIGINS: origin })
  })

  afterAll(async () => {
    await application.close()
    server.kill('SIGTERM')
    await server.exited
    folder.remove()
  })

  const messagesOf = async (category: string): Promise<readonly (string | undefined)[]> =>
    (await createClient(server.url, KEY).all(`/api/application-logs?order=asc&category=${category}`)).map(
      ({ message }) => message,
    )

  async function openApplication() {
    browse.tolerate(/^request elsewhere: /)
    const { page } = await browse.open(origin)
    await page.waitForFunction(() => 'client' in globalThis)
    return page
  }

  test('sends by itself, and tells why something is refused', async () => {
    browse.tolerate(/the server responded with a status of 400/)
    const page = await openApplication()
    const stats = await page.evaluate(async () => {
      client.log({ categoryName: 'Refused', message: 'bad time', level: 'Error', timestamp: 'yesterday' })
      client.log({ categoryName: 'Sent', message: 'good', level: 'Error' })
      await client.flush()
      return { stats: client.stats(), dropped }
    })
    expect(stats).toMatchObject({
      stats: { stored: 1, refused: 1, pending: 0 },
      dropped: [{ count: 1, code: 'invalid_timestamp', refused: [{ index: 0, entry: { message: 'bad time' } }] }],
    })
    await eventually(async () => expect(await messagesOf('Sent')).toEqual(['good']))
  })

  test.each([
    ['the page is left', 'Left', (page: Awaited<ReturnType<typeof openApplication>>) => page.goto('about:blank')],
    [
      'the page is closed',
      'Closed',
      (page: Awaited<ReturnType<typeof openApplication>>) => page.close({ runBeforeUnload: true }),
    ],
  ])('what waits is sent when %s, also what is under way and has no answer', async (_how, category, leave) => {
    const page = await openApplication()
    server.kill('SIGSTOP')
    await page.evaluate((categoryName) => {
      for (let index = 0; index < 100; index += 1) client.log({ categoryName, message: `${index}`, level: 'Debug' })
      for (let index = 100; index < 150; index += 1) client.log({ categoryName, message: `${index}`, level: 'Debug' })
    }, category)
    expect(await page.evaluate(() => client.stats())).toMatchObject({ stored: 0, pending: 150 })
    await leave(page)
    server.kill('SIGCONT')
    await eventually(async () => {
      expect(await messagesOf(category)).toEqual(Array.from({ length: 150 }, (_, index) => `${index}`))
    })
  })

  test('what is logged when the page is hidden already is sent, also when nothing waits for its end any more', async () => {
    const page = await openApplication()
    await page.evaluate(() => {
      const log = (message: string): void => void client.log({ categoryName: 'Hidden', message, level: 'Debug' })
      // Listeners of the application come after those of the client.
      for (const type of ['pagehide', 'visibilitychange', 'unload'])
        addEventListener(type, () => {
          log(type)
          log(`${type} again`)
        })
    })
    await page.goto('about:blank')
    await eventually(async () => {
      const types = ['pagehide', 'visibilitychange', 'unload']
      expect(await messagesOf('Hidden')).toEqual(types.flatMap((type) => [type, `${type} again`]))
    })
  })
})
