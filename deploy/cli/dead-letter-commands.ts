import {
  type DeadLetterFilters,
  type DeadLetterSummary,
  LIST_LIMIT,
  listDeadLetters,
  RATE_PER_SECOND,
  type ReplayReport,
  replayDeadLetters,
} from '../../consumers/dead-letter-replay.ts'
import { DEAD_LETTER_REASONS, isDeadLetterReason } from '../../consumers/dead-letters.ts'
import { PROJECTION_NAMES } from '../../consumers/projection.ts'
import { topicName } from '../../shared/contract/topics.ts'
import { choiceOf, countOf, timeOf } from './arguments.ts'
import { type Arguments, auditOf, type CliDeps, type Command, EXIT, type Option, withJournal } from './command.ts'
import { columns, count, json, printable } from './text.ts'

const REASONS = Object.keys(DEAD_LETTER_REASONS).filter(isDeadLetterReason)

const LIMIT_MAX = 1_000_000
const RATE_MAX = 100_000

const FILTER_OPTIONS: Readonly<Record<string, Option>> = {
  view: { value: 'VIEW', help: `Only those of one view: ${PROJECTION_NAMES.join(', ')}.` },
  reason: { value: 'REASON', help: 'Only those with this reason, as in the list.' },
  since: { value: 'TIME', help: 'Only those from this time on: ISO 8601, or now-1h (s, m, h, d, w).' },
  until: { value: 'TIME', help: 'Only those before this time.' },
  id: { value: 'ID', help: 'Only those of the entry with this id.' },
}

export const deadLetterCommands: readonly Command[] = [
  {
    name: 'dead-letters list',
    summary: 'List records that a view could not process',
    description: [
      'A dead letter holds the unchanged record. The list shows the place and the problem of each, oldest first, but no content.',
    ],
    options: {
      ...FILTER_OPTIONS,
      limit: { value: 'COUNT', help: `Most dead letters to show. Default: ${LIST_LIMIT}.` },
      json: { help: 'Print one JSON document for each dead letter, a line each.' },
    },
    examples: ['sluice dead-letters list --since now-1h', 'sluice dead-letters list --view flows --json'],
    run: (args, deps) => {
      const filters = filtersOf(args, deps)
      const limit = countOf(args, 'limit', LIMIT_MAX) ?? LIST_LIMIT
      return withJournal(deps, (journal, { TOPIC_PREFIX }) =>
        list(
          listDeadLetters(journal, { topicPrefix: TOPIC_PREFIX, limit, ...filters }),
          args.flag('json'),
          limit,
          deps,
        ),
      )
    },
  },
  {
    name: 'dead-letters replay',
    summary: 'Put dead letters back on their topics',
    description: [
      'Fix the cause first. Without a filter, all dead letters since the last replay are put back; with one, all that match,',
      'replayed before or not. Stored entries are recognised by their ids and not stored twice. Records that failed too often,',
      'and records without a value or an existing place, stay where they are; the exit code is then 1.',
    ],
    options: {
      ...FILTER_OPTIONS,
      'rate-per-second': { value: 'COUNT', help: `Most records put back in a second. Default: ${RATE_PER_SECOND}.` },
    },
    examples: [
      'sluice dead-letters replay',
      'sluice dead-letters replay --reason refused_by_store --rate-per-second 500',
    ],
    run: (args, deps) => {
      const filters = filtersOf(args, deps)
      const ratePerSecond = countOf(args, 'rate-per-second', RATE_MAX) ?? RATE_PER_SECOND
      return withJournal(deps, async (journal, config) => {
        const { TOPIC_PREFIX } = config
        const subject = { kind: 'dead-letters', id: topicName(TOPIC_PREFIX, 'dead-letters') } as const
        const audited = auditOf(deps, journal, config, 'dead-letters replay')
        const replayed = await audited(
          [{ team: null, action: 'replayed', subject, before: null, after: filters }],
          () => replayDeadLetters(journal, { topicPrefix: TOPIC_PREFIX, filters, ratePerSecond }),
          { inParts: true },
        )
        return report(replayed, deps)
      })
    },
  },
]

function filtersOf(args: Arguments, deps: CliDeps): DeadLetterFilters {
  const filters = {
    view: choiceOf(args, 'view', PROJECTION_NAMES),
    reason: choiceOf(args, 'reason', REASONS),
    id: args.text('id'),
    since: timeOf(args, 'since', deps),
    until: timeOf(args, 'until', deps),
  }
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
}

type Listed = DeadLetterSummary & { readonly replayed: boolean }

/** Prints each letter as it is found, so that memory does not grow with the topic. */
async function list(
  letters: AsyncIterable<Listed>,
  asJson: boolean,
  limit: number,
  { stdout }: CliDeps,
): Promise<number> {
  let found = 0
  for await (const letter of letters) {
    found += 1
    stdout.write(asJson ? json(letter) : letterText(letter))
  }
  if (asJson) return EXIT.ok
  if (found === 0) stdout.write('No dead letter was found.\n')
  if (found === limit) stdout.write(`${found} shown; there may be more, see --limit.\n`)
  return EXIT.ok
}

function letterText(letter: Listed): string {
  const { at, view, reason, message, attempt, topic, partition, offset, id, replayed } = letter
  const facts = [`attempt ${attempt}`, `${topic}/${partition} offset ${offset}`, `id ${id ?? 'unknown'}`]
  if (replayed) facts.push('replayed')
  return `${printable(`${at}  ${view}  ${reason}: ${message}`)}\n    ${printable(facts.join(', '))}\n`
}

function report({ replayed, repeated, refused }: ReplayReport, { stdout, stderr }: CliDeps): number {
  const twice = repeated === 0 ? '' : `; ${repeated} more had been put back for another view`
  stdout.write(`${count(replayed, 'record')} put back${twice}\n`)
  const left = Object.entries(refused).filter(([, number]) => number > 0)
  if (left.length === 0) return EXIT.ok
  const rows = columns(left.map(([reason, number]) => [`  ${number}`, reason]))
  stderr.write(`Left where they are:\n${rows.join('\n')}\n`)
  return EXIT.failed
}
