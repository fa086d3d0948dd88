import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { topicName } from '../../shared/contract/topics.ts'
import { type ApplyResult, createRegistryAdmin, type RegistryAdmin } from '../../shared/registry/admin.ts'
import { describeTeam } from '../../shared/registry/describe.ts'
import { type RegistryRecord, splitOwnedId } from '../../shared/registry/records.ts'
import { type FileProblem, problemText } from '../../shared/registry/yaml-reader.ts'
import { readFile } from '../../shared/runtime/read-file.ts'
import {
  type Arguments,
  auditOf,
  type CliDeps,
  type Command,
  CommandError,
  EXIT,
  print,
  type WhereMissing,
  withJournal,
} from './command.ts'
import { registryText } from './registry-list.ts'
import { count, json, printable } from './text.ts'

/** Stands for standard input and output in place of a file name. */
const STANDARD = '-'

const CHANGES_SHOWN_MAX = 50

const TEAM = { name: 'TEAM', help: "a Team's id" }

export const registryCommands: readonly Command[] = [
  {
    name: 'registry apply',
    summary: 'Apply a file of Teams, Events, Steps and Projects',
    description: [
      'The file is merged into the registry: its items are added or changed, and other items stay. It may refer to existing Teams',
      'and Events. If the file has problems, all of them are listed and nothing is changed.',
      'Applying a file again changes nothing. Running servers follow within seconds. docs/registry.md describes the file.',
    ],
    parameters: [{ name: 'FILE', help: 'a registry file (YAML); - stands for standard input' }],
    options: {
      prune: {
        help: 'Also delete items that the file lacks, and revoke keys that the `apiKeys` of their Team lacks.',
      },
      'dry-run': { help: 'Show the changes without making them.' },
    },
    examples: ['sluice registry apply registry.yaml --dry-run', 'sluice registry apply registry.yaml --prune'],
    run: apply,
  },
  {
    name: 'registry list',
    summary: 'Show Teams with their keys, Events, Steps and Projects',
    description: ['Only the first characters of a key are shown; the key itself is not stored.'],
    options: { json: { help: 'Print one JSON document.' } },
    examples: ['sluice registry list', "sluice registry list --json | jq '.teams[].id'"],
    run: (args, deps) =>
      withAdmin(deps, 'registry list', async (admin) => {
        const registry = await admin.read()
        const teams = registry.teams().map((team) => describeTeam(registry, team))
        deps.stdout.write(args.flag('json') ? json({ teams }, 2) : registryText(teams))
        return EXIT.ok
      }),
  },
  {
    name: 'registry rotate-key',
    summary: 'Give a Team a new key, shown once',
    description: [
      'The old key stays live, so that clients can change over; revoke it with `registry revoke-key`. A Team has at most two live',
      'keys. The new key is random (192 bits) and printed once: only its SHA-256 is stored.',
    ],
    parameters: [TEAM],
    options: {
      'revoke-old': { help: 'Revoke every other key of the Team at once.' },
      'key-file': { value: 'FILE', help: 'Take the key from a file instead of making one; a weak one is refused.' },
      json: { help: 'Print one JSON document: team, key, revoked.' },
    },
    examples: ['sluice registry rotate-key payments', 'sluice registry rotate-key payments --revoke-old'],
    run: (args, deps) => withAdmin(deps, 'registry rotate-key', (admin) => rotate(args, deps, admin)),
  },
  {
    name: 'registry revoke-key',
    summary: 'Revoke a key of a Team',
    description: [
      'The key is named by its first characters as `registry list` shows them (up to 6), or in full. A revoked key stays',
      'revoked, even if a file lists it again. Running servers refuse it within seconds.',
    ],
    parameters: [TEAM, { name: 'PREFIX', help: "the key's first characters, up to 6, or the whole key" }],
    examples: ['sluice registry revoke-key payments sl_x7Q'],
    run: (args, deps) => withAdmin(deps, 'registry revoke-key', (admin) => revoke(args, deps, admin)),
  },
  {
    name: 'registry export',
    summary: 'Write the whole registry to a file',
    description: [
      'All Teams with their Events, Steps, Projects, saved searches and keys, the revoked ones too; of a key its',
      'SHA-256. The file is replaced once the new one is complete, and only its owner may read it. An empty registry is not written.',
      'docs/registry.md says how to keep such files.',
    ],
    parameters: [{ name: 'FILE', help: 'the file to write; - stands for standard output' }],
    examples: ['sluice registry export registry-backup.ndjson'],
    run: (args, deps) => withAdmin(deps, 'registry export', (admin) => exportTo(args, deps, admin)),
  },
  {
    name: 'registry restore',
    summary: 'Restore an exported registry',
    description: [
      'The whole file is checked before anything is changed. Items that it lacks stay, and a key that was revoked before or since the',
      'export stays revoked. Restoring a file again changes nothing.',
    ],
    parameters: [{ name: 'FILE', help: 'a file of `registry export`; - stands for standard input' }],
    options: { 'dry-run': { help: 'Show the changes without making them.' } },
    examples: [
      'sluice registry restore registry-backup.ndjson --dry-run',
      'sluice registry restore registry-backup.ndjson',
    ],
    run: restore,
  },
]

const withAdmin = (
  deps: CliDeps,
  command: string,
  work: (admin: RegistryAdmin) => Promise<number>,
  whereMissing?: WhereMissing,
): Promise<number> =>
  withJournal(
    deps,
    (journal, config) =>
      work(
        createRegistryAdmin({
          journal,
          topic: topicName(config.TOPIC_PREFIX, 'registry'),
          clock: deps.clock,
          audited: auditOf(deps, journal, config, command),
        }),
      ),
    whereMissing,
  )

/** A file may be applied before the first start of a server, which makes a journal: so the file is read first. */
const filling = (dryRun: boolean): WhereMissing => (dryRun ? 'refuse' : 'create')

async function apply(args: Arguments, deps: CliDeps): Promise<number> {
  const [file = ''] = args.parameters
  const dryRun = args.flag('dry-run')
  const text = readBytes(file).toString()
  return withAdmin(
    deps,
    'registry apply',
    async (admin) =>
      tell(await admin.applyFile(text, { prune: args.flag('prune'), dryRun }), nameOf(file), dryRun, deps),
    filling(dryRun),
  )
}

async function restore(args: Arguments, deps: CliDeps): Promise<number> {
  const [file = ''] = args.parameters
  const dryRun = args.flag('dry-run')
  const bytes = readBytes(file)
  return withAdmin(
    deps,
    'registry restore',
    async (admin) => tell(await admin.restore(bytes, { dryRun }), nameOf(file), dryRun, deps),
    filling(dryRun),
  )
}

async function exportTo(args: Arguments, { stdout }: CliDeps, admin: RegistryAdmin): Promise<number> {
  const [file = ''] = args.parameters
  const text = await admin.export()
  if (text === undefined) throw new CommandError('the registry is empty, so nothing was written')
  if (file === STANDARD) {
    stdout.write(text)
    return EXIT.ok
  }
  replaceFile(file, text)
  stdout.write(`${file} has the whole registry\n`)
  return EXIT.ok
}

/**
 * Replaces a file atomically: a reader finds the old content or all of the new, even after a power failure. A device such as `/dev/stdout`
 * stays what it is.
 */
function replaceFile(file: string, text: string): void {
  const old = statSync(file, { throwIfNoEntry: false })
  if (old?.isFile() === false) throw new CommandError(`${file} is no file; - stands for standard output`)
  const place = old === undefined ? file : realpathSync(file)
  const unfinished = `${place}.${process.pid}.tmp`
  try {
    writeFileSync(unfinished, text, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(unfinished, place)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw new CommandError(`${file} cannot be written: ${(error as Error).message}`, { cause: error })
  }
}

function tell(result: ApplyResult, file: string, dryRun: boolean, deps: CliDeps): number {
  if (result.outcome !== 'applied') throw new CommandError(applyFailure(file, result))
  const shown = result.changes.slice(0, CHANGES_SHOWN_MAX).map((change) => `  ${changeText(change)}`)
  const hidden = result.changes.length - shown.length
  const lines = [
    ...shown,
    ...(hidden > 0 ? [`  and ${hidden} more`] : []),
    dryRun ? `${count(result.changes.length, 'change')} to make` : `${count(result.changes.length, 'change')} made`,
    ...result.notes.map((note) => `note: ${note}`),
  ]
  deps.stdout.write(`${lines.join('\n')}\n`)
  return EXIT.ok
}

function applyFailure(file: string, result: Exclude<ApplyResult, { outcome: 'applied' }>): string {
  switch (result.outcome) {
    case 'refused':
      return `${file} has ${count(result.problems.length, 'problem')}; nothing was changed\n${problemLines(result.problems)}`
    case 'disturbed':
      return [
        `another process changed the registry at the same time; ${count(result.changes.length, 'change')} of ${file} were made`,
        'Look at `sluice registry list` and try again.',
        ...(result.problems.length > 0 ? [problemLines(result.problems)] : []),
      ].join('\n')
  }
}

const problemLines = (problems: readonly FileProblem[]): string =>
  problems.map((problem) => `  ${printable(problemText(problem))}`).join('\n')

function changeText(change: RegistryRecord): string {
  if (change.kind !== 'key')
    return `${change.value === null ? 'delete' : 'set'} ${change.kind} ${printable(change.id)}${isArchived(change) ? ' (archived)' : ''}`
  const { team } = splitOwnedId(change.id)
  return `${change.value?.revokedAt === null ? 'add' : 'revoke'} key ${printable(change.value?.prefix ?? '')}… of team ${team}`
}

const isArchived = ({ value }: RegistryRecord): boolean => value !== null && 'archivedAt' in value

async function rotate(args: Arguments, deps: CliDeps, admin: RegistryAdmin): Promise<number> {
  const [team = ''] = args.parameters
  const file = args.text('key-file')
  const given = file === undefined ? {} : { key: readBytes(file).toString().trim() }
  // Where nothing can be printed, nobody would see the key, and with --revoke-old the Team would be locked out.
  const beginning = args.flag('json') ? '{' : `The new key of ${team}, shown this once:\n`
  const prepare = (): Promise<void> =>
    print(deps, beginning).catch((error: Error) => {
      throw new CommandError(`no key was made, as it could not be shown: ${error.message}`, { cause: error })
    })
  const result = await admin.rotateKey(team, { revokeOld: args.flag('revoke-old'), ...given, prepare })
  if (result.outcome === 'refused') throw new CommandError(result.reason)
  const { key, revoked } = result
  if (args.flag('json')) {
    deps.stdout.write(json({ team, key, revoked }).slice(beginning.length))
    return EXIT.ok
  }
  const prefixes = revoked.map((prefix) => `${prefix}…`).join(', ')
  const lines = [
    '',
    `  ${key}`,
    '',
    revoked.length > 0
      ? `Revoked: ${prefixes}`
      : `Other live keys stay live until \`sluice registry revoke-key ${team} PREFIX\`.`,
  ]
  deps.stdout.write(`${lines.join('\n')}\n`)
  return EXIT.ok
}

async function revoke(args: Arguments, deps: CliDeps, admin: RegistryAdmin): Promise<number> {
  const [team = '', prefix = ''] = args.parameters
  const result = await admin.revokeKey(team, prefix)
  if (result.outcome === 'refused') throw new CommandError(result.reason)
  const said = result.outcome === 'revoked' ? 'is revoked' : 'was revoked before'
  const left =
    result.liveKeys === 0
      ? `; the Team has no live key now, make one with \`sluice registry rotate-key ${team}\``
      : `; ${count(result.liveKeys, 'key')} live`
  deps.stdout.write(`The key ${result.prefix}… of ${team} ${said}${left}\n`)
  return EXIT.ok
}

const nameOf = (file: string): string => (file === STANDARD ? 'standard input' : file)

function readBytes(file: string): Buffer {
  try {
    return readFile(file === STANDARD ? 0 : file)
  } catch (error) {
    throw new CommandError(`${nameOf(file)} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}
