import { createMemoryJournal } from '../support/memory-journal.ts'
import { journalContract } from './journal-suite.ts'

// The double that unit tests use in place of a journal keeps the same promises.
const makeFixture = async () => {
  const journal = createMemoryJournal()
  let names = 0
  return {
    open: async () => journal.anotherClient(),
    name: (base: string) => `${base}-${names++}`,
    cleanUp: () => journal.close(),
  }
}

journalContract('memory', makeFixture, { patienceMs: 10_000, historiesMax: 30 })
