import type { Query } from '../../schemas/answers.ts'
import { get } from '../api/client.ts'
import { keep } from '../ui/keep.ts'
import { toast } from '../ui/toast.tsx'
import { currentAddress, go } from '../ui/use-address.ts'
import { type AddressParams, ENVIRONMENT } from './filters.ts'

/** Whether this page has a search that terms can be added to. */
export const hasSearch = (): boolean => currentAddress().path[0]?.endsWith('-logs') === true

let changing = Promise.resolve()

/**
 * Adds a term to the search or removes it; changes run one at a time, as each builds on the previous one's result. A reader who has gone to
 * another page meanwhile keeps that page as it is.
 */
export function changeSearch(change: 'with' | 'without', term: string): void {
  const [page] = currentAddress().path
  changing = changing.then(async () => {
    const { q } = currentAddress().params
    const answer = await get<Query>('/api/query', { q, [change]: term })
    if (page !== currentAddress().path[0]) return
    // The answer would replace what was searched for meanwhile.
    if (q !== currentAddress().params['q']) return changeSearch(change, term)
    if (answer.ok) go({ params: { q: answer.data.q } })
    else toast(answer.problem.message, 'bad')
  })
}

/** Sets parameters of the address, and remembers the environment that the reader has chosen with them, or that all are to be shown. */
export function set(params: AddressParams): void {
  if (ENVIRONMENT in params) keep(ENVIRONMENT, params[ENVIRONMENT] ?? '')
  go({ params })
}
