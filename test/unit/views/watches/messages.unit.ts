import { describe, expect, test } from 'vitest'
import type { Condition } from '../../../../views/schemas/watches.ts'
import { bodyOf, matchedUrl, matchText, type Notice } from '../../../../views/watches/messages.ts'
import { afterError } from '../../../../views/watches/progress.ts'
import { knownWatch } from '../../../support/watches.ts'

const COUNT: Condition = { type: 'count', list: 'event-logs', params: {}, more: 20, minutes: 5 }
const FAILED: Condition = { type: 'flows', state: 'failed', event: null }

const notice = (samples: readonly string[], url: string | null = null): Notice => ({
  type: 'watch.fired',
  team: { id: 'payments', name: 'Pay & <!channel>' },
  watch: { id: '1', name: 'Failed <orders>', condition: FAILED },
  firing: { at: '2026-03-01T10:00:00.123Z', match: { count: samples.length, samples } },
  url,
})

describe('a match in words', () => {
  test.each<[string, Condition, number, string[]]>([
    ['37 logs within 5 min, more than 20.', COUNT, 37, []],
    ['1 log within 5 min, more than 0.', { ...COUNT, more: 0 }, 1, []],
    ['2,000 logs within 90 min, more than 20.', { ...COUNT, minutes: 90 }, 2_000, []],
    ['37 logs within 1 hour, more than 20.', { ...COUNT, minutes: 60 }, 37, []],
    ['37 logs within 12 hours, more than 20.', { ...COUNT, minutes: 720 }, 37, []],
    ['37 logs within 1 day, more than 20.', { ...COUNT, minutes: 1_440 }, 37, []],
    ['1 flow failed: order-1', FAILED, 1, ['order-1']],
    ['12 flows stalled: a, b and 10 others', { ...FAILED, state: 'stalled' }, 12, ['a', 'b']],
    ['2 new exceptions: A, B', { type: 'newGroup', by: 'exception', params: {} }, 2, ['A', 'B']],
    ['1 new message: it broke', { type: 'newGroup', by: 'template', params: {} }, 1, ['it broke']],
  ])('is “%s”', (text, condition, count, samples) => {
    expect(matchText(condition, { count, samples })).toBe(text)
  })
})

describe('the address of a match', () => {
  const PAGE = 'https://logs.example.com/sluice'
  const AT = '2026-03-01T10:00:00.123Z'
  const urlOf = (condition: Condition) => matchedUrl(PAGE, condition, AT)

  test('shows its logs at its time, its flows, or its groups', () => {
    expect(urlOf({ ...COUNT, params: { q: 'a & b', level: 'Error' } })).toBe(
      `${PAGE}/event-logs?q=a+%26+b&level=Error&from=2026-03-01T09%3A55%3A00.123Z&to=2026-03-01T10%3A00%3A00.123Z`,
    )
    expect(urlOf(FAILED)).toBe(`${PAGE}/flows?state=failed`)
    expect(urlOf({ ...FAILED, event: 'order' })).toBe(`${PAGE}/flows?state=failed&event=order`)
    expect(urlOf({ type: 'newGroup', by: 'exception', params: {} })).toBe(
      `${PAGE}/application-logs?group=exception&from=2026-02-28T10%3A00%3A00.123Z&to=2026-03-01T10%3A00%3A00.123Z`,
    )
  })

  test('is that of the watches where it would be too long for a receiver', () => {
    expect(urlOf({ ...COUNT, params: { q: 'ü'.repeat(400) } })).toBe(`${PAGE}/watches`)
  })
})

test.each(['', 'x'])('a text that is too long is not cut within a character: %j', (start) => {
  const long = `${start}${'😀'.repeat(1_600)}`
  const { blocks } = JSON.parse(bodyOf('slack', notice([long])))
  const state = afterError(knownWatch(), long, 0)
  for (const text of [blocks[0].text.text, state?.history[0]?.text])
    expect([text.length < long.length, text.isWellFormed()]).toEqual([true, true])
})

describe('what comes out of logs', () => {
  const HOSTILE = '<!here> [click](https://evil.example) *bold* <https://evil.example|x>'

  test('is plain text in a message for Slack, and escaped where Slack reads marks', () => {
    const { text, blocks } = JSON.parse(bodyOf('slack', notice([HOSTILE], 'https://logs.example.com/watches')))
    expect(text).toBe('Pay &amp; &lt;!channel&gt;: Failed &lt;orders&gt;')
    expect(blocks).toEqual([
      {
        type: 'section',
        text: {
          type: 'plain_text',
          text: `Pay & <!channel>: Failed <orders>\n1 flow failed: ${HOSTILE}`,
          emoji: false,
        },
      },
      { type: 'section', text: { type: 'mrkdwn', text: '<https://logs.example.com/watches|Open in Sluice>' } },
    ])
  })

  test('is cut to what Slack takes', () => {
    const { blocks } = JSON.parse(bodyOf('slack', notice(Array(20).fill('x'.repeat(200)))))
    expect(blocks[0].text.text).toHaveLength(3_000)
  })

  test('is a run of text in a card for Teams, which reads no Markdown in it', () => {
    const { attachments } = JSON.parse(bodyOf('teams', notice([HOSTILE])))
    const [{ content }] = attachments
    expect(content.body.map((block: { type: string }) => block.type)).toEqual(['RichTextBlock', 'RichTextBlock'])
    expect(content.body[1].inlines).toEqual([{ type: 'TextRun', text: `1 flow failed: ${HOSTILE}`, weight: 'Default' }])
    expect(content.actions).toBeUndefined()
  })
})
