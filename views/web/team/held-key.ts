import { createStore } from '../ui/store.ts'

/** A key that was entered or made on this page: in this tab's memory alone, until it is loaded again or another Team has it. */
export const heldKey = createStore('')
