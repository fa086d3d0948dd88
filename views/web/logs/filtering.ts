import { createContext } from 'preact'
import type { Term } from './terms.ts'

/** Adds a term to the search; absent where there is no search to add to. */
export const Filtering = createContext<((term: Term) => void) | undefined>(undefined)
