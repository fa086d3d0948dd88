import { stripTypeScriptTypes } from 'node:module'

/** A jest transform that leaves to Node what Node does when it runs the program. */
export default {
  process: (source) => ({ code: stripTypeScriptTypes(source) }),
}
