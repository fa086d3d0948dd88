import { compareTimestamps } from '../../shared/contract/timestamp.ts'
import { topicName } from '../../shared/contract/topics.ts'
import { readAudit } from '../../shared/journal/audit.ts'
import { timeOf } from './arguments.ts'
import { type Command, EXIT, withJournal } from './command.ts'
import { count, json } from './text.ts'

export const auditCommand: Command = {
  name: 'audit',
  summary: 'Show who changed what: the registry, keys, quotas, watches, replays',
  description: [
    'Prints one JSON document for each change, a line each: its time, author, way, origin and subject, the values before and',
    'after, and the outcome. Oldest first; changes without a known outcome come last, as `pending`.',
    'docs/security.md describes the fields.',
  ],
  options: {
    team: { value: 'TEAM', help: 'Only changes of items of this Team.' },
    since: { value: 'TIME', help: 'Only those from this time on: ISO 8601, or now-1h (s, m, h, d, w).' },
    until: { value: 'TIME', help: 'Only those before this time.' },
  },
  examples: ['sluice audit --team payments --since now-7d', 'sluice audit | jq \'select(.subject.kind == "key")\''],
  run: (args, deps) => {
    const [team, since, until] = [args.text('team'), timeOf(args, 'since', deps), timeOf(args, 'until', deps)]
    return withJournal(deps, async (journal, { TOPIC_PREFIX }) => {
      const topic = topicName(TOPIC_PREFIX, 'audit')
      let unreadable = 0
      const countUnreadable = (): void => {
        unreadable += 1
      }
      for await (const change of readAudit(journal, topic, countUnreadable)) {
        if (team !== undefined && change.team !== team) continue
        if (since !== undefined && compareTimestamps(change.at, since) < 0) continue
        if (until !== undefined && compareTimestamps(change.at, until) >= 0) continue
        deps.stdout.write(json(change))
      }
      if (unreadable === 0) return EXIT.ok
      deps.stderr.write(
        `sluice audit: ${count(unreadable, 'record')} of ${topic} cannot be read, so changes are missing here or are shown as pending\n`,
      )
      return EXIT.failed
    })
  },
}
