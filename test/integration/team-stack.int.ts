import { afterAll, beforeAll, expect, test } from 'vitest'
import { topicName } from '../../shared/contract/topics.ts'
import { readAudit, type ToldChange } from '../../shared/journal/audit.ts'
import type { Envelope } from '../support/api.ts'
import { describeWithBackends } from '../support/backends.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { API_KEY, type FullStack, startFullStack, TEAM } from '../support/full-stack.ts'
import { buildPage } from '../support/page-server.ts'

const PATIENCE_MS = 60_000
const SESSION_SECRET = 'the same secret at gateway and page'
const eventLog = (uniqueIdentifier: string) => ({ uniqueIdentifier, payload: 'x', level: 'Error' })

interface Settings {
  readonly events: readonly {
    readonly identifier: string
    readonly lastSeenAt: string | null
    readonly lastDay: number
  }[]
}
interface Refusal {
  readonly code: string
  readonly keyPrefix: string
  readonly unnoted: number
  readonly nearest: unknown
}

await describeWithBackends(
  'a Team on the full stack, gateway and page apart',
  { kafka: 'shared', elasticsearch: 'shared' },
  ({ kafka, elasticsearch }) => {
    let stack: FullStack
    beforeAll(async () => {
      stack = await startFullStack({ brokers: kafka.brokers, elasticsearchUrl: elasticsearch.url })
    }, 120_000)
    afterAll(() => stack?.stop(), 60_000)

    async function ask<Data>(url: string, method: string, path: string, body?: unknown, key = API_KEY) {
      const response = await fetch(url + path, {
        method,
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return (await response.json()) as Envelope<Data>
    }
    const onPage = <Data>(method: string, path: string, body?: unknown) =>
      ask<Data>(stack.views.url(), method, path, body)
    const send = (identifier: string, key = API_KEY) =>
      ask(stack.gateway.url(), 'POST', '/api/ExternalLogs', eventLog(identifier), key)
    const refusals = async (code: string) =>
      (await onPage<{ items: Refusal[] }>('GET', `/api/refusals?code=${code}`)).data.items

    test(
      'what is changed on the page holds at the gateway within seconds',
      async () => {
        await onPage('POST', '/api/team/events', { identifier: 'refund', name: 'Refund' })
        await eventually(async () => expect((await send('refund')).success).toBe(true))
        await onPage('PATCH', '/api/team/events/refund', { archived: true })
        await eventually(async () => expect((await send('refund')).error.message).toContain('is archived'))
        const { data } = await onPage<{ key: string; prefix: string }>('POST', '/api/team/keys')
        // Until the gateway has read of it, a change does not hold there: how many are taken is counted, not known.
        let taken = 0
        const place = async () => {
          const answer = await send('order-placed', data.key)
          if (answer.success) taken += 1
          return answer
        }
        await eventually(async () => expect((await place()).success).toBe(true))
        await onPage('DELETE', `/api/team/keys/${data.prefix}`)
        await eventually(async () => expect((await place()).error.code).toBe('invalid_api_key'))
        const told: ToldChange[] = []
        for await (const change of readAudit(stack.journal, topicName(stack.topicPrefix, 'audit'))) told.push(change)
        expect(told.slice(-2)).toMatchObject([
          { actor: { id: TEAM, key: API_KEY.slice(0, 6) }, action: 'created', outcome: 'success' },
          { subject: { kind: 'key', id: data.prefix }, action: 'revoked', outcome: 'success' },
        ])
        await eventually(async () => {
          const { data } = await onPage<Settings>('GET', '/api/team')
          const placed = data.events.find(({ identifier }) => identifier === 'order-placed')
          expect(placed).toMatchObject({ lastSeenAt: expect.any(String), lastDay: taken })
        }, 30_000)
      },
      PATIENCE_MS,
    )

    test(
      'what the gateway refuses is seen on the page, also by one that starts later',
      async () => {
        await send('order-plcaed')
        await send('order-placed', 'nobodys-key-0123456789abcdef')
        await send('order-plcaed', 'nobodys-key-0123456789abcdef')
        const seen = async (): Promise<void> => {
          expect((await refusals('entity_not_found'))[0]?.nearest).toEqual({
            identifier: 'order-placed',
            name: 'Order placed',
          })
          expect((await refusals('invalid_api_key'))[0]?.keyPrefix).toBe('nobody')
        }
        await eventually(seen)
        await stack.views.end('SIGTERM')
        await stack.views.start()
        await eventually(seen)
      },
      PATIENCE_MS,
    )

    test(
      'a flood at two gateways is noted in part and counted in full',
      async () => {
        const other = await stack.startAnother('gateway')
        const bad = { ...eventLog('order-placed'), level: 'Loud' }
        const total = 1_000
        for (let sent = 0; sent < total; sent += 50) {
          const url = sent % 100 === 0 ? other.url : stack.gateway.url()
          const answers = await Promise.all(
            Array.from({ length: 50 }, () => ask(url, 'POST', '/api/ExternalLogs', bad)),
          )
          expect(answers.every(({ error }) => error.code === 'invalid_log_level')).toBe(true)
        }
        await eventually(async () => {
          const items = await refusals('invalid_log_level')
          expect(items.reduce((sum, one) => sum + one.unnoted, items.length)).toBe(total)
          expect(items.length).toBeLessThanOrEqual(120)
        }, 20_000)
      },
      PATIENCE_MS,
    )

    test(
      'a sample flow needs a gateway that is known and trusts the page, and then arrives',
      async () => {
        const sample = () => onPage<{ correlationKey: string; sent: number }>('POST', '/api/team/sample-flow')
        expect((await sample()).error.message).toContain('GATEWAY_URL')
        await stack.views.end('SIGTERM')
        await stack.views.start({ SESSION_SECRET, GATEWAY_URL: `${stack.gateway.url()}/` })
        expect((await sample()).error.message).toContain('Both need the same SESSION_SECRET')
        await stack.gateway.end('SIGTERM')
        await stack.gateway.start({ SESSION_SECRET })
        await stack.views.end('SIGTERM')
        await stack.views.start({ SESSION_SECRET, GATEWAY_URL: stack.gateway.url() })
        const { data } = await sample()
        await eventually(async () => {
          const flow = await onPage<{ summary: { total: number } }>('GET', `/api/flows/${data.correlationKey}`)
          expect(flow.data.summary.total).toBe(data.sent)
        }, 30_000)
        expect(await onPage('GET', '/api/team')).toMatchObject({
          data: { team: { id: TEAM }, gateway: { url: stack.gateway.url(), here: false } },
        })
      },
      2 * PATIENCE_MS,
    )

    describeWithBrowser('the page of a process of its own', ({ open }) => {
      test(
        "names the gateway's address, and shows what goes through it and what does not",
        async () => {
          buildPage()
          const url = stack.views.url()
          const { page } = await open(url, { key: API_KEY, path: '/team' })
          await page.getByRole('button', { name: 'Code that sends to Order placed' }).click()
          expect(await page.locator('pre').textContent()).toContain(`'${stack.gateway.url()}/api/ExternalLogs'`)
          await page.keyboard.press('Escape')
          await page.getByRole('button', { name: 'Send a sample flow' }).click()
          await page.waitForURL('**/flows/sample-*')
          await page.getByText('The sample service did not answer').first().waitFor({ timeout: 30_000 })
          await send('order-plaecd')
          await page.getByRole('link', { name: 'Refused logs' }).click()
          const refused = page.locator('details', { hasText: 'order-plaecd' })
          await refused.locator('summary').click()
          await refused.getByText('Did you mean order-placed?').waitFor()
        },
        2 * PATIENCE_MS,
      )
    })
  },
)
