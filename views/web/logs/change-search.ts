import type { Query } from '../../schemas/answers.ts'
import { get } from '../api/client.ts'
import { toast } from '../ui/toast.tsx'
import { currentAddress, go } from '../ui/use-address.ts'

/** Whether there is a search on this page that terms can be added to. */
export const hasSearch = (): boolean => currentAddress().path[0]?.endsWith('-logs') === true

let changing = Promise.resolve()

/** Adds a term to the search or takes it away: one after the other, as each begins with what the one before made. */
export function changeSearch(change: 'with' | 'without', term: string): void {
  changing = changing.then(async () => {
    const answer = await get<Query>('/api/query', { q: currentAddress().params['q'], [change]: term })
    if (answer.ok) go({ params: { q: answer.data.q } })
    else toast(answer.problem.message, 'bad')
  })
}
