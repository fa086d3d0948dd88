import { PROJECTION_NAMES } from '../../consumers/projection.ts'
import { choiceFrom, choiceOf, dayOf } from './arguments.ts'
import { auditOf, type Command, EXIT, UsageError, withJournal } from './command.ts'

const SOURCES = ['indices', 'topics'] as const

export const viewCommands: readonly Command[] = [
  {
    name: 'views rebuild',
    summary: 'Rebuild the documents of a view',
    description: [
      `VIEW is one of ${PROJECTION_NAMES.join(', ')}. Consumers and views run on meanwhile.`,
      '',
      'From indices (Elasticsearch only): every stored entry is projected by this version into a new generation of its index, which',
      'replaces the old one once it holds the same ids. Writes to that index wait for a moment.',
      '',
      'From topics: every record on the topics is written again; stored entries are recognised by their ids, so only lost ones are',
      'added. With the embedded store, stop the server first.',
    ],
    parameters: [{ name: 'VIEW', help: `one of ${PROJECTION_NAMES.join(', ')}` }],
    options: {
      from: { value: 'SOURCE', help: 'Required: indices or topics.' },
      since: {
        value: 'DAY',
        help: 'Only entries received since this day (yyyy-mm-dd, UTC); flows are rebuilt from all indices.',
      },
      'take-over': { help: 'Remove the remains of a killed rebuild first. No other rebuild may be running.' },
    },
    examples: [
      'sluice views rebuild application-logs --from indices',
      'sluice views rebuild event-logs --from topics --since 2026-01-31',
    ],
    run: (args, deps) => {
      const view = choiceFrom(args.parameters[0] ?? '', 'VIEW', PROJECTION_NAMES)
      const from = choiceOf(args, 'from', SOURCES)
      if (from === undefined) throw new UsageError('--from is missing: indices or topics')
      const takeOver = args.flag('take-over')
      if (takeOver && from === 'topics') throw new UsageError('--take-over goes with --from indices')
      const since = dayOf(args, 'since') ?? null
      const report = (line: string): void => void deps.stdout.write(`${line}\n`)
      const change = { team: null, action: 'rebuilt', before: null, after: { from, since } } as const
      return withJournal(deps, async (journal, config) => {
        const audit = auditOf(deps, journal, config, 'views rebuild')
        const audited = (rebuild: () => Promise<void>) =>
          audit([{ ...change, subject: { kind: 'view', id: view } }], rebuild, { inParts: true })
        await deps.handlers.rebuildView(config, journal, { view, from, since, takeOver, report, audited })
        return EXIT.ok
      })
    },
  },
]
