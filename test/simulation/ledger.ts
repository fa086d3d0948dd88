import { summaryOf } from '../../consumers/dead-letter-replay.ts'
import { decodeApplicationLog, decodeEventLog } from '../../consumers/decode.ts'
import { groupName, PROJECTION_NAMES } from '../../consumers/projection.ts'
import { flowFact, foldFlows } from '../../consumers/projections/flows.ts'
import type { EntryRecord } from '../../shared/contract/records.ts'
import { topicName } from '../../shared/contract/topics.ts'
import type { JournalRecord } from '../../shared/journal/journal.ts'
import { sourceTopics } from '../support/consumers-records.ts'
import type { MemoryStoreWriter } from '../support/consumers-store.ts'
import { createLedger } from '../support/ledger.ts'
import type { MemoryJournal } from '../support/memory-journal.ts'
import { OTHER_PROJECT, PREFIX } from './processes.ts'

/** Checks the first promise: records what was sent and answered, and compares it with the journal and the store. */
export interface Ledger {
  sent(mark: string): void
  /** Records what an answer claimed about an entry. */
  claimed(mark: string, claim: Claim): void
  /** Records a group's committed position: all records before it must have been settled. */
  committed(group: string, topic: string, partition: number, position: number): void
  /** Whether every group has committed the end of its partitions. */
  isDrained(): Promise<boolean>
  /** From now on, the dead letters expected are those of the current bad records, in addition to earlier ones. */
  expectDeadLetters(): void
  /** Makes all comparisons. */
  settle(): void
}

/** The claim of an answer about one entry; `refused` means that the sender has to correct it. */
export type Claim = 'accepted' | 'not_written' | 'unknown' | 'refused'

/** Marks with this suffix belong to entries without a message, which the gateway refuses. */
export const INVALID = '!'
/** The text of an entry that the store refuses until an operator fixes it. */
export const REFUSED_MARK = 'refused by the store'
/** Marks records that no projection can decode. */
export const POISON_HEADER = 'x-poison'

export const EVENT_TOPIC = topicName(PREFIX, 'event-logs')
export const APPLICATION_TOPIC = topicName(PREFIX, 'application-logs')
const ENTRY_TOPICS = [EVENT_TOPIC, APPLICATION_TOPIC]
const DEAD_LETTER_TOPIC = topicName(PREFIX, 'dead-letters')

export function createSimulationLedger(
  journal: MemoryJournal,
  store: MemoryStoreWriter,
  find: (finding: string) => void,
): Ledger {
  const ledger = createLedger()
  /** Entries that may have been written, according to what their senders were told. */
  const possible = new Set<string>()
  const written = new Set<string>()
  const read = new Set<JournalRecord>()
  const positions = new Map<string, number>()
  const expectedLetters = new Set<string>()

  const isPoison = ({ headers }: JournalRecord): boolean => headers[POISON_HEADER] !== undefined
  const isRefused = (record: JournalRecord): boolean => record.value?.includes(REFUSED_MARK) === true
  const placeOf = (view: string, { topic, partition, offset }: Pick<JournalRecord, 'topic' | 'partition' | 'offset'>) =>
    `${view} ${topic}/${partition}/${offset}`
  const lettersNow = (): ReadonlySet<string> =>
    new Set(
      journal.recordsOf(DEAD_LETTER_TOPIC).flatMap((record) => {
        const letter = summaryOf(record)
        return letter === undefined ? [] : [placeOf(letter.view, letter)]
      }),
    )
  const list = (what: string, places: readonly string[]): void => {
    if (places.length > 0) find(`${what}: ${places.slice(0, 5).join(', ')}`)
  }

  /** The marks of all entries in the journal. */
  function marksWritten(): ReadonlySet<string> {
    for (const record of ENTRY_TOPICS.flatMap((topic) => journal.recordsOf(topic))) {
      if (read.has(record)) continue
      read.add(record)
      const entry = entryOf(record)
      if (entry !== undefined) written.add(markOf(entry))
    }
    return written
  }

  function isSettled(view: string, record: JournalRecord, letters: ReadonlySet<string>): boolean {
    if (letters.has(placeOf(view, record))) return true
    return !isPoison(record) && (view === 'flows' || store.documents.has(String(record.headers['ce_id'])))
  }

  return {
    sent: ledger.sent,
    claimed: (mark, claim) => {
      if (claim === 'accepted' || claim === 'unknown') possible.add(mark)
      if (claim !== 'accepted') return
      ledger.answered(mark)
      if (!marksWritten().has(mark)) find(`${mark} was accepted, and the journal does not have it`)
    },
    committed: (group, topic, partition, position) => {
      const place = `${group} ${topic}/${partition}`
      const before = positions.get(place) ?? 0
      const view = PROJECTION_NAMES.find((name) => groupName(PREFIX, name) === group) ?? ''
      const records = journal.recordsOf(topic).filter((record) => record.partition === partition)
      if (position > records.length) find(`${place}: ${position} was committed, and the end is ${records.length}`)
      if (position < before) find(`${place}: ${position} was committed after ${before}`)
      const letters = lettersNow()
      const unsettled = records.slice(before, position).filter((record) => !isSettled(view, record, letters))
      list(
        `${position} was committed before these records were settled`,
        unsettled.map((record) => placeOf(view, record)),
      )
      positions.set(place, Math.max(before, position))
    },
    isDrained: async () => {
      for (const name of PROJECTION_NAMES)
        for (const topic of sourceTopics(PREFIX, name))
          for (const { committed, endPosition } of await journal.positions(topic, groupName(PREFIX, name)))
            if ((committed ?? 0) !== endPosition) return false
      return true
    },
    expectDeadLetters: () => {
      const refuses = store.refuse !== undefined
      for (const view of PROJECTION_NAMES)
        for (const topic of sourceTopics(PREFIX, view))
          for (const record of journal.recordsOf(topic))
            if (isPoison(record) || (refuses && view !== 'flows' && isRefused(record)))
              expectedLetters.add(placeOf(view, record))
      const letters = lettersNow()
      list('bad records without a dead letter', without(expectedLetters, letters))
      list('dead letters of good records', without(letters, expectedLetters))
    },
    settle: () => {
      const stored = [...store.documents.values()].map(({ source }) => markOf(JSON.parse(source)))
      const { duplicates, missing, strangers } = ledger.settle(stored)
      list('stored more than once', duplicates)
      list('answered and not stored', missing)
      list('stored and never sent', strangers)
      list('stored, and the sender was told that it was not written', without(new Set(stored), possible))
      const entries = ENTRY_TOPICS.flatMap((topic) => journal.recordsOf(topic)).map(entryOf)
      const facts = entries.flatMap((entry) => (entry === undefined ? [] : (flowFact(entry) ?? [])))
      const flowsOf = (flows: readonly object[]): string =>
        JSON.stringify(flows.map((flow) => JSON.stringify(flow)).sort())
      if (flowsOf(store.flows()) !== flowsOf(foldFlows(facts))) find('the flows are not those of the records')
    },
  }
}

const without = (all: ReadonlySet<string>, others: ReadonlySet<string>): readonly string[] =>
  [...all].filter((one) => !others.has(one))

/** Undefined for a record that is not an entry. */
function entryOf(record: JournalRecord): EntryRecord | undefined {
  const decoded = (record.topic === EVENT_TOPIC ? decodeEventLog : decodeApplicationLog)(record)
  return decoded.outcome === 'decoded' ? decoded.entry : undefined
}

/** The mark of an entry with this text; the same text can be sent to two Projects. */
export const markIn = (project: string | null, text: string): string =>
  `${text.split(' ')[0]}${project === OTHER_PROJECT ? '*' : ''}`

const markOf = (entry: EntryRecord): string =>
  entry.kind === 'event' ? markIn(null, entry.payload) : markIn(entry.project, entry.message)
