import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { foldFlows } from '../../../../../consumers/projections/flows.ts'
import { mergeDeltas } from '../../../../../shared/log-store/flow-deltas.ts'
import type { FlowCursor } from '../../../../../shared/log-store/log-store.ts'
import { openStore } from '../../../../../shared/log-store/sqlite/store.ts'
import { deltasOf } from '../../../../contract/log-store-flows.ts'
import { flowsOf } from '../../../../contract/log-store-rig.ts'
import { eventDocument } from '../../../../support/documents.ts'
import { flowDeltas } from '../../../../support/documents-arbitrary.ts'
import * as fc from '../../../../support/fast-check.ts'
import { inFile } from '../../../../support/sqlite-file.ts'

describe('flows', () => {
  let folder: string
  let store: ReturnType<typeof openStore>
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-flows-'))
    store = openStore({ file: join(folder, 'logs.db') })
  })
  afterEach(() => {
    store.close()
    rmSync(folder, { recursive: true })
  })

  test('have the same row, however their deltas come', () => {
    const takeRows = (): readonly unknown[] =>
      inFile(join(folder, 'logs.db'), (database) => {
        const statement = database.prepare('DELETE FROM flows RETURNING *')
        statement.setReadBigInts(true)
        return statement.all()
      })
    fc.assert(
      fc.property(fc.array(flowDeltas, { minLength: 1, maxLength: 5 }), (all) => {
        store.calls.mergeFlows(all)
        store.calls.mergeFlows(all.slice(1))
        const oneByOne = takeRows()
        store.calls.mergeFlows([all.reduce(mergeDeltas)])
        expect(oneByOne).toEqual(takeRows())
        expect(oneByOne).toMatchObject([
          { key_lower: 'order-1', steps: new Uint8Array(Buffer.from('\0a\uFFFDb\0c\0')) },
        ])
      }),
    )
  })

  test.each([
    ['20,000 groups', 20_003, 0],
    ['5,120 groups of long names', 5_200, 1_000],
  ])('end a page at %s, but give a flow with more of them alone', (_, count, nameLength) => {
    const documents = Array.from({ length: count }, (_, index) =>
      eventDocument({
        correlationKey: ['last', 'first'][index] ?? 'large',
        event: `event ${index}`.padEnd(nameLength, '-'),
      }),
    )
    store.calls.write(documents)
    store.calls.mergeFlows(foldFlows(deltasOf(documents)))
    const keys: (readonly string[])[] = []
    for (let after: FlowCursor | null = null, pages = 0; pages < 3; pages += 1) {
      const page = store.calls.searchFlows(flowsOf('payments'), { limit: 10, sort: 'latest', after })
      keys.push(page.flows.map(({ correlationKey }) => correlationKey))
      after = page.next
      if (after === null) break
    }
    expect(keys).toEqual([['first'], ['large'], ['last']])
  })

  test('count at most 5,000 Events', () => {
    const documents = Array.from({ length: 5_001 }, (_, index) =>
      eventDocument({ correlationKey: `flow ${index}`, event: `event ${index}` }),
    )
    store.calls.mergeFlows(deltasOf(documents))
    const { events } = store.calls.tallyFlows(flowsOf('payments'), {
      lately: documents[0]?.timestamp ?? '',
      ends: [],
      waits: [],
    })
    expect(events.size).toBe(5_000)
  })
})
