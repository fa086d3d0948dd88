import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import type { Journal } from '../../shared/journal/journal.ts'
import type { JournalFixture, JournalTraits } from '../support/journal-fixture.ts'
import { appendingContract } from './journal-appending.ts'
import { groupContract } from './journal-groups.ts'
import { historyContract } from './journal-history.ts'
import { readingContract } from './journal-reading.ts'

/** The tools of the suite's parts. */
export interface JournalBench extends JournalTraits {
  /** A client that is closed after the test. */
  open(): Promise<Journal>
  name(base: string): string
}

/** The duties of every adapter of the journal, tested through nothing but the port. */
export function journalContract(
  adapter: string,
  makeFixture: () => Promise<JournalFixture>,
  traits: JournalTraits,
  parts = [appendingContract, readingContract, groupContract, historyContract],
): void {
  describe(`the journal on ${adapter}`, () => {
    let fixture: JournalFixture
    let opened: Journal[] = []

    const bench: JournalBench = {
      ...traits,
      name: (base) => fixture.name(base),
      open: async () => {
        const journal = await fixture.open()
        opened.push(journal)
        return journal
      },
    }

    beforeAll(async () => {
      fixture = await makeFixture()
    }, traits.patienceMs)

    afterEach(async () => {
      await Promise.all(opened.map((journal) => journal.close()))
      opened = []
    }, traits.patienceMs)

    afterAll(() => fixture.cleanUp(), traits.patienceMs)

    for (const part of parts) part(bench)
  })
}
