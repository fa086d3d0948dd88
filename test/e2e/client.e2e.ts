import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ClientOptions, createClient, type Dropped } from '../../clients/typescript/src/index.ts'
import { createClient as createReader } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { type SluiceProcess, serverFolder, startSluice } from '../support/sluice-process.ts'

const KEY = 'client-e2e-key-0123456789abcdef0123456789'
const PROJECT = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'
const REGISTRY = `teams: [{ id: t, name: T, apiKeys: ["${KEY}"] }]
projects: [{ id: ${PROJECT}, team: t, name: P }]
`

describe('the TypeScript client and the limits of a server', () => {
  const folder = serverFolder(REGISTRY)
  let server: SluiceProcess

  beforeAll(async () => {
    server = await startSluice({ ...folder.settings, MAX_BATCH_ENTRIES: '30' })
  })

  afterAll(async () => {
    server.kill('SIGTERM')
    await server.exited
    folder.remove()
  })

  /** Logs these messages and gives what was stored of them, in the order of the view, and what was dropped. */
  async function send(categoryName: string, messages: readonly string[], options: Partial<ClientOptions> = {}) {
    const dropped: Dropped[] = []
    const client = createClient({
      url: server.url,
      apiKey: KEY,
      project: PROJECT,
      onDropped: (report) => dropped.push(report),
      ...options,
    })
    for (const message of messages) client.log({ categoryName, message, level: 'Information' })
    await client.flush()
    const { stored } = client.stats()
    await client.close()
    const items = await eventually(async () => {
      const found = await createReader(server.url, KEY).all(`/api/application-logs?order=asc&category=${categoryName}`)
      expect(found).toHaveLength(stored)
      return found
    })
    return { stored: items.map(({ message }) => message), dropped }
  }

  test('a server that takes smaller batches gets smaller ones, and shows the logs in their order', async () => {
    const messages = Array.from({ length: 250 }, (_, index) => `${index}`)
    expect(await send('Batches', messages)).toEqual({ stored: messages, dropped: [] })
  })

  test('entries that are too large are reported with the limit, and hold up nothing', async () => {
    const { stored, dropped } = await send('Large', ['first', 'x'.repeat(1_100_000), 'y'.repeat(6_000_000), 'last'])
    expect(stored).toEqual(['first', 'last'])
    // Compared in parts: a difference would print megabytes.
    const told = dropped.map(({ count, code, refused }) => [code, count, refused[0]?.details])
    expect(told.toSorted()).toEqual([
      ['entry_too_large', 1, expect.objectContaining({ limit: 1_000_000, largest: '/message' })],
      ['payload_too_large', 1, { limit: 5_242_880 }],
    ])
    const lengths = dropped.flatMap(({ refused }) =>
      refused.map(({ entry }) => (entry as { message: string }).message.length),
    )
    expect(lengths.toSorted((one, other) => one - other)).toEqual([1_100_000, 6_000_000])
  })

  test.each([
    ['a wrong key', { apiKey: 'wrong' }, 'invalid_api_key'],
    ['an unknown Project', { project: '3f2504e0-4f89-11d3-9a0c-0305e82c3399' }, 'project_not_found'],
    ['no Project', { project: undefined }, 'missing_project_id'],
    ['a wrong address', { url: 'nowhere' }, 'not_found'],
  ])('%s is told in the words of the server', async (_what, options, code) => {
    const url = 'url' in options ? { url: `${server.url}/${options.url}` } : {}
    const { stored, dropped } = await send('Refused', ['one', 'two'], { ...options, ...url })
    expect(stored).toEqual([])
    expect(dropped).toMatchObject([{ count: 2, reason: 'refused', code, message: expect.stringMatching(/^\S.*\.$/) }])
  })
})
