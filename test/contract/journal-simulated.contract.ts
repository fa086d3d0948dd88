import { createRandom } from '../fuzz/random.ts'
import { createSimulatedJournal } from '../simulation/journal.ts'
import { createNetwork } from '../simulation/network.ts'
import { createMemoryJournal } from '../support/memory-journal.ts'
import { journalContract } from './journal-suite.ts'

// The journal of the simulation keeps the port's promises while its network has no faults.
const makeFixture = async () => {
  const journal = createMemoryJournal()
  const network = createNetwork(createRandom(1, 0), () => undefined, false)
  let names = 0
  return {
    open: async () => {
      const process = network.createProcess('client')
      return createSimulatedJournal({ network, process, journal: journal.anotherClient() })
    },
    name: (base: string) => `${base}-${names++}`,
    cleanUp: () => journal.close(),
  }
}

journalContract('a network', makeFixture, { patienceMs: 20_000, historiesMax: 20 })
