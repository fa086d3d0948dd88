import { hostname, userInfo } from 'node:os'
import { compareTimestamps } from '../../shared/contract/timestamp.ts'
import { topicName } from '../../shared/contract/topics.ts'
import { type Audited, createAudit, readAudit } from '../../shared/journal/audit.ts'
import type { Journal } from '../../shared/journal/journal.ts'
import type { Config } from '../../shared/runtime/config.ts'
import { timeOf } from './arguments.ts'
import { type CliDeps, type Command, EXIT, type WhereMissing } from './command.ts'
import { count, json } from './text.ts'

export const auditCommand: Command = {
  name: 'audit',
  summary: 'Show who changed what: the registry, keys, quotas, watches, replays',
  description: [
    'Prints one JSON document for each change, a line each: its time, author, way, origin and subject, the values before and',
    'after, and the outcome. Oldest first; changes without a known outcome come last, as `pending`.',
    'docs/security.md describes the fields.',
  ],
  parameters: [],
  options: {
    team: { value: 'TEAM', help: 'Only changes of items of this Team.' },
    since: { value: 'TIME', help: 'Only those from this time on: ISO 8601, or now-1h (s, m, h, d, w).' },
    until: { value: 'TIME', help: 'Only those before this time.' },
  },
  examples: ['sluice audit --team payments --since now-7d', 'sluice audit | jq \'select(.subject.kind == "key")\''],
  run: (call, deps) => {
    const [team, since, until] = [call.text('team'), timeOf(call, 'since', deps), timeOf(call, 'until', deps)]
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

/** Opens the journal for a command, and closes it. */
export async function withJournal(
  deps: CliDeps,
  work: (journal: Journal, config: Config) => Promise<number>,
  whereMissing: WhereMissing = 'refuse',
): Promise<number> {
  const config = deps.config()
  const journal = await deps.openJournal(config, whereMissing)
  try {
    return await work(journal, config)
  } finally {
    await journal.close()
  }
}

/** Audits what a command changes. */
export function auditOf({ clock, stderr }: CliDeps, journal: Journal, config: Config, command: string): Audited {
  const audit = createAudit({
    journal,
    topic: topicName(config.TOPIC_PREFIX, 'audit'),
    clock,
    onFailure: (error, record) => {
      // A refused change fails the command, which reports it.
      if (record === 'outcome')
        stderr.write(`sluice ${command}: the audit does not tell the outcome: ${(error as Error).message}\n`)
    },
  })
  return audit({ actor: { kind: 'operator', id: userName(), key: null }, via: command, from: hostname() })
}

/** The name of the operating system's user; its number if it has no name, as in many containers. */
function userName(): string | null {
  try {
    return userInfo().username
  } catch {
    return process.getuid === undefined ? null : String(process.getuid())
  }
}
