import { beginningOf } from '../../shared/contract/rows.ts'
import { DAY_MS, timestampOf } from '../../shared/contract/timestamp.ts'
import { countText, plural } from '../flow-layout/format.ts'
import type { Condition, Format } from '../schemas/watches.ts'
import type { Firing, Match } from './records.ts'

/** A message before it is formatted. */
export interface Notice {
  readonly type: 'watch.fired' | 'watch.test'
  readonly team: { readonly id: string; readonly name: string }
  readonly watch: { readonly id: string; readonly name: string; readonly condition: Condition }
  readonly firing: Pick<Firing, 'at' | 'match'>
  /** The page that shows the match; null if the page's address is unknown. */
  readonly url: string | null
}

/** A match in words. */
export function matchText(condition: Condition, { count, samples }: Match): string {
  const first = headOf(condition, count)
  if (samples.length === 0) return `${first}.`
  const others = count - samples.length
  return `${first}: ${samples.join(', ')}${others > 0 ? ` and ${countText(others)} others` : ''}`
}

function headOf(condition: Condition, count: number): string {
  switch (condition.type) {
    case 'count':
      return `${plural(count, 'log')} within ${spanText(condition.minutes)}, more than ${countText(condition.more)}`
    case 'flows':
      return `${plural(count, 'flow')} ${condition.state}`
    case 'newGroup':
      return plural(count, `new ${condition.by === 'exception' ? 'exception' : 'message'}`)
  }
}

function spanText(minutes: number): string {
  if (minutes % 1_440 === 0) return plural(minutes / 1_440, 'day')
  return minutes % 60 === 0 ? plural(minutes / 60, 'hour') : `${minutes} min`
}

/** The address of what a condition matched until `at`; `page` is that of the page, without a slash at its end. */
export function matchedUrl(page: string, condition: Condition, at: string): string {
  const url = `${page}/${matchedPath(condition, at)}`
  return url.length > URL_MAX ? `${page}/watches` : url
}

/** Maximum length of an address: Slack refuses texts that are longer than 3,000 characters. */
const URL_MAX = 2_000

function matchedPath(condition: Condition, at: string): string {
  const within = (ms: number) => ({ from: timestampOf(Date.parse(at) - ms), to: at })
  const path = (list: string, params: Readonly<Record<string, string>>) => `${list}?${new URLSearchParams(params)}`
  switch (condition.type) {
    case 'count':
      return path(condition.list, { ...condition.params, ...within(condition.minutes * 60_000) })
    case 'flows':
      return path('flows', { state: condition.state, ...(condition.event !== null && { event: condition.event }) })
    case 'newGroup':
      return path('application-logs', { ...condition.params, group: condition.by, ...within(DAY_MS) })
  }
}

/** The body of a message in the receiver's format. Log texts are shown verbatim: no receiver interprets markup in them. */
export function bodyOf(format: Format, notice: Notice): string {
  const { type, team, watch, firing, url } = notice
  const { condition } = watch
  const title = type === 'watch.test' ? `Test of “${watch.name}”` : watch.name
  const text = type === 'watch.test' ? 'This is a test: the watch did not fire.' : matchText(condition, firing.match)
  switch (format) {
    case 'json':
      return JSON.stringify({
        type,
        timestamp: firing.at,
        data: { team, watch, text, ...firing.match, others: firing.match.count - firing.match.samples.length, url },
      })
    case 'slack': {
      // Slack only interprets &, < and > (https://docs.slack.dev/messaging/formatting-message-text); plain text has no other markup.
      const plain = { type: 'plain_text', text: cutForSlack(`${team.name}: ${title}\n${text}`), emoji: false }
      const link = url === null ? [] : [{ type: 'mrkdwn', text: `<${escaped(url)}|Open in Sluice>` }]
      return JSON.stringify({
        text: escaped(`${team.name}: ${title}`),
        blocks: [plain, ...link].map((content) => ({ type: 'section', text: content })),
      })
    }
    case 'teams':
      return JSON.stringify({
        type: 'message',
        attachments: [
          {
            contentType: 'application/vnd.microsoft.card.adaptive',
            content: {
              $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
              type: 'AdaptiveCard',
              version: '1.4',
              // Text runs show Markdown verbatim; a TextBlock would render it.
              body: [run(`${team.name}: ${title}`, 'Bolder'), run(text, 'Default')],
              ...(url !== null && { actions: [{ type: 'Action.OpenUrl', title: 'Open in Sluice', url }] }),
            },
          },
        ],
      })
  }
}

/** Slack's limit for a text in a block. */
const SLACK_TEXT_MAX = 3_000

const cutForSlack = (text: string): string =>
  text.length <= SLACK_TEXT_MAX ? text : `${beginningOf(text, SLACK_TEXT_MAX - 1)}…`

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const run = (text: string, weight: string) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, weight }],
})
