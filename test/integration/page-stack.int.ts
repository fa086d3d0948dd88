import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { describeWithBackends } from '../support/backends.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { API_KEY, type FullStack, PROJECT, startFullStack } from '../support/full-stack.ts'
import { buildPage } from '../support/page-build.ts'
import { expectRows, rowTexts } from '../support/page-logs.ts'

const PATIENCE_MS = 90_000
const INDEXED_MS = 30_000
const FLOW = 'order-4711'
const EXCEPTION = `System.InvalidOperationException: the card was declined
   at Acme.Billing.Capture() in Capture.cs:line 17
 ---> System.TimeoutException: the bank did not answer
   at System.Net.Http.HttpClient.SendAsync()
   --- End of inner exception stack trace ---`

/** What is sent, oldest first. */
const EVENT_LOGS = ['{"order":{"id":4711}}', 'paid at the second attempt']
const APPLICATION_LOGS = [
  { message: 'capture begins', level: 'Information', exception: null },
  { message: 'capture failed', level: 'Error', exception: EXCEPTION },
]
const LOGS = EVENT_LOGS.length + APPLICATION_LOGS.length

await describeWithBackends(
  'the page on the full stack',
  { kafka: 'shared', elasticsearch: 'shared' },
  ({ kafka, elasticsearch }) => {
    let stack: FullStack

    async function send(path: string, body: object): Promise<void> {
      const response = await fetch(stack.gateway.url() + path, {
        method: 'POST',
        headers: { 'x-api-key': API_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ correlationKey: FLOW, ...body }),
      })
      expect(await response.json()).toMatchObject({ success: true })
    }
    const sendEventLog = (payload: string) =>
      send('/api/ExternalLogs', { uniqueIdentifier: 'order-placed', level: 'Information', payload })

    async function shownTotal(): Promise<unknown> {
      const response = await fetch(`${stack.views.url()}/api/flows/${FLOW}`, { headers: { 'x-api-key': API_KEY } })
      const { data } = (await response.json()) as { data?: { summary: { total: number } } }
      return data?.summary.total
    }

    beforeAll(async () => {
      buildPage()
      stack = await startFullStack({ brokers: kafka.brokers, elasticsearchUrl: elasticsearch.url })
      for (const payload of EVENT_LOGS) await sendEventLog(payload)
      for (const entry of APPLICATION_LOGS)
        await send('/api/ApplicationLogs', { uniqueIdentifier: PROJECT, categoryName: 'Acme.Billing', ...entry })
      await eventually(async () => expect(await shownTotal()).toBe(LOGS), INDEXED_MS)
    }, 180_000)
    afterAll(() => stack?.stop(), 60_000)

    describeWithBrowser('opened', ({ open }) => {
      const openAt = async (path: string) => (await open(stack.views.url(), { key: API_KEY, path })).page

      test(
        'finds event logs by words and by a field of the payload, and shows a new one as it comes',
        async () => {
          const page = await openAt('/event-logs')
          await expectRows(page, EVENT_LOGS.toReversed())
          await page.getByRole('combobox', { name: /search/i }).fill('payload.order.id:4711')
          await page.keyboard.press('Enter')
          await expectRows(page, ['{"order":{"id":4711}}'])

          const live = await openAt('/event-logs')
          await live.getByRole('button', { name: 'Live' }).click()
          await live.locator('.tail.live').waitFor()
          await sendEventLog('shipped while one looks')
          await eventually(async () => expect((await rowTexts(live))[0]).toBe('shipped while one looks'), INDEXED_MS)
          expect(await rowTexts(live)).toHaveLength(EVENT_LOGS.length + 1)
        },
        PATIENCE_MS,
      )

      test(
        'shows an exception of an application log with the one inside it',
        async () => {
          const page = await openAt('/application-logs?level=Error')
          await page.getByText('capture failed').first().click()
          await page.getByText('the card was declined').first().waitFor()
          await page.getByText('the bank did not answer').first().waitFor()
        },
        PATIENCE_MS,
      )

      test(
        'draws the flow over its Event and its Project, with the Step that is still to come',
        async () => {
          const page = await openAt(`/flows/${FLOW}`)
          await page.locator('.flow-list tbody tr').first().waitFor()
          const lanes = await page.locator('.flow-name').allTextContents()
          expect(lanes).toContain('Order placed')
          expect(lanes).toContain('Pay')
          expect(await page.locator('.flow-unseen').count()).toBe(1)
          const rows = await page.locator('.flow-list tbody tr').allTextContents()
          expect(rows.filter((row) => row.includes('capture'))).toHaveLength(APPLICATION_LOGS.length)
        },
        PATIENCE_MS,
      )
    })
  },
)
