import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteJournal } from '../../shared/journal/sqlite/sqlite-journal.ts'
import { systemClock } from '../../shared/runtime/clock.ts'
import { journalContract } from './journal-suite.ts'

for (const thread of ['own', 'same'] as const) {
  const makeFixture = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-journal-'))
    let names = 0
    return {
      open: () => createSqliteJournal({ file: join(folder, 'journal.db'), thread, clock: systemClock }),
      name: (base: string) => `${base}-${names++}`,
      cleanUp: () => rm(folder, { recursive: true }),
    }
  }
  journalContract(`SQLite in ${thread === 'own' ? 'its own' : 'the same'} thread`, makeFixture, {
    patienceMs: 30_000,
    // Each client of the first kind starts a thread, which takes most of the time.
    historiesMax: thread === 'own' ? 10 : 40,
  })
}
