import { afterAll, beforeAll, expect, test } from 'vitest'
import type { WatchDetails } from '../../views/schemas/watches.ts'
import type { Envelope } from '../support/api.ts'
import { describeWithBackends } from '../support/backends.ts'
import { eventually } from '../support/eventually.ts'
import { API_KEY, type FullStack, PROJECT, startFullStack } from '../support/full-stack.ts'
import { type BareServer, startBare } from '../support/raw-http.ts'
import type { SluiceProcess } from '../support/sluice-process.ts'

const SETTINGS = { WATCH_INTERVAL_MS: '1000', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' }
const PATIENCE_MS = 120_000

await describeWithBackends(
  'two processes that evaluate watches',
  { kafka: 'shared', elasticsearch: 'shared' },
  ({ kafka, elasticsearch }) => {
    let stack: FullStack
    let receiver: BareServer | undefined
    let hook: string
    let one: SluiceProcess
    let two: SluiceProcess
    /** The id and the first sample of each message. */
    const received: (readonly [id: string, sample: string])[] = []

    beforeAll(async () => {
      receiver = await startBare(async (request, response) => {
        const { data } = JSON.parse(Buffer.concat(await request.toArray()).toString())
        received.push([String(request.headers['webhook-id']), data.samples[0]])
        response.writeHead(200).end()
      })
      hook = `${receiver.url}/`
      stack = await startFullStack({ brokers: kafka.brokers, elasticsearchUrl: elasticsearch.url, settings: SETTINGS })
      ;[one, two] = await Promise.all([stack.startAnother('watches'), stack.startAnother('watches')])
    }, 180_000)
    afterAll(async () => {
      await stack?.stop()
      await receiver?.close()
    }, 60_000)

    async function ask<Data>(url: string, method: string, path: string, body?: unknown): Promise<Data> {
      const response = await fetch(url + path, {
        method,
        headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return ((await response.json()) as Envelope<Data>).data
    }
    const watch = async (id: string): Promise<WatchDetails> => ask(stack.views.url(), 'GET', `/api/team/watches/${id}`)
    const fail = (correlationKey: string) =>
      ask(stack.gateway.url(), 'POST', '/api/ExternalLogs', {
        uniqueIdentifier: 'order-placed',
        payload: 'x',
        level: 'Error',
        correlationKey,
      })
    /** When a process last evaluated a watch; 0 where another one does. */
    const evaluatedAt = async ({ url }: SluiceProcess): Promise<number> => {
      const text = await (await fetch(`${url}/metrics`)).text()
      return Number(/^sluice_watch_last_evaluation_timestamp_seconds (\S+)/m.exec(text)?.[1])
    }
    /** The process that evaluates, once one does and the other does not. */
    const active = async (): Promise<SluiceProcess> => {
      const before = [await evaluatedAt(one), await evaluatedAt(two)]
      return eventually(async () => {
        const [first, second] = [await evaluatedAt(one), await evaluatedAt(two)].map(
          (at, index) => at > (before[index] ?? 0),
        )
        expect(first).not.toBe(second)
        return first ? one : two
      }, PATIENCE_MS)
    }
    const toldOf = (sample: string): string[] => received.filter((each) => each[1] === sample).map(([id]) => id)
    const told = (sample: string) => eventually(() => expect(toldOf(sample)).toHaveLength(1), PATIENCE_MS)

    let id: string

    test(
      'tell of a firing once, as one of them evaluates',
      async () => {
        const made = await ask<{ id: string }>(stack.views.url(), 'POST', '/api/team/watches', {
          name: 'Failed',
          condition: { type: 'flows', state: 'failed', event: null },
          webhook: { url: hook, format: 'json' },
        })
        id = made.id
        await eventually(async () => expect((await watch(id)).state).toBe('waiting'), PATIENCE_MS)
        await fail('order-1')
        await told('order-1')
        await eventually(async () => {
          expect((await watch(id)).history.map(({ outcome }) => outcome)).toEqual(['delivered', 'fired'])
        })
      },
      2 * PATIENCE_MS,
    )

    test(
      'tell of counts and of new exceptions as well',
      async () => {
        const make = (name: string, condition: object) =>
          ask<{ id: string }>(stack.views.url(), 'POST', '/api/team/watches', {
            name,
            condition,
            webhook: { url: hook, format: 'json' },
          })
        const made = [
          await make('Lost', { type: 'count', list: 'application-logs', params: { q: 'lost' }, more: 1, minutes: 5 }),
          await make('New', { type: 'newGroup', by: 'exception', params: { level: 'Error' } }),
        ]
        for (const one of made)
          await eventually(async () => expect((await watch(one.id)).state).toBe('waiting'), PATIENCE_MS)
        for (const file of ['a', 'b'])
          await ask(stack.gateway.url(), 'POST', '/api/ApplicationLogs', {
            uniqueIdentifier: PROJECT,
            categoryName: 'Acme.Shop',
            message: `lost ${file}`,
            level: 'Error',
            exception: 'Acme.LostError: lost\n   at Acme.Shop.Find()',
          })
        for (const one of made)
          await eventually(async () => {
            expect((await watch(one.id)).history.map(({ outcome }) => outcome)).toEqual(['delivered', 'fired'])
          }, PATIENCE_MS)
        expect(toldOf('Acme.LostError')).toHaveLength(1)
      },
      2 * PATIENCE_MS,
    )

    test(
      'of which the one that evaluates is frozen: the other goes on, and nothing comes twice once it wakes up',
      async () => {
        const owner = await active()
        owner.kill('SIGSTOP')
        await fail('order-2')
        await told('order-2')
        owner.kill('SIGCONT')
        const woken = Date.now() / 1_000
        await fail('order-3')
        await told('order-3')
        // Either of them may be the one from now on; the other has found out, or has tried and lost.
        await eventually(async () => {
          expect(Math.max(await evaluatedAt(one), await evaluatedAt(two))).toBeGreaterThan(woken + 5)
        }, PATIENCE_MS)
        for (const key of ['order-1', 'order-2', 'order-3']) expect(toldOf(key)).toHaveLength(1)
      },
      3 * PATIENCE_MS,
    )

    test(
      'of which the one that evaluates is killed: the other goes on with what is known',
      async () => {
        const owner = await active()
        owner.kill('SIGKILL')
        await owner.exited
        await fail('order-4')
        await told('order-4')
        expect(received.map(([messageId]) => messageId)).toHaveLength(new Set(received.map(([one]) => one)).size)
        expect((await watch(id)).history.filter(({ outcome }) => outcome === 'fired')).toHaveLength(4)
      },
      2 * PATIENCE_MS,
    )
  },
)
