import { createJournalFolder } from '../support/journal-fixture.ts'
import { journalContract } from './journal-suite.ts'

for (const thread of ['own', 'same'] as const) {
  const makeFixture = async () => {
    const folder = await createJournalFolder()
    let names = 0
    return {
      open: () => folder.open({ thread }),
      name: (base: string) => `${base}-${names++}`,
      cleanUp: folder.remove,
    }
  }
  journalContract(`SQLite in ${thread === 'own' ? 'its own' : 'the same'} thread`, makeFixture, {
    patienceMs: 30_000,
    // Each client of the first kind starts a thread, which takes most of the time.
    historiesMax: thread === 'own' ? 10 : 40,
  })
}
