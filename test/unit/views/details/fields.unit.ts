import { describe, expect, test } from '@jest/globals'
import { parseQuery } from '../../../../shared/query/parse.ts'
import { fieldsOf } from '../../../../views/details/details.ts'
import { applicationEntry, eventEntry } from './entries.ts'

describe('the fields of an entry', () => {
  test('every field that can be searched for is a query', () => {
    for (const entry of [eventEntry(), applicationEntry({ originalLevel: 'Loud' })]) {
      for (const { name, term } of fieldsOf(entry)) {
        if (term === null) expect(['timestamp', 'receivedAt', 'originalLevel']).toContain(name)
        else expect(parseQuery(term).reading).toEqual({ read: 'query' })
      }
    }
  })

  test('what is not set is no field', () => {
    const names = fieldsOf(applicationEntry({ eventId: 0, eventName: '', correlationKey: null })).map(
      ({ name }) => name,
    )
    expect(names).toEqual(['level', 'environment', 'project', 'category', 'timestamp', 'receivedAt', 'id'])
  })
})
