/** The ids of 455 Projects, or of twice as many Events: enough for every flow, and few enough to be written again with each of its logs. */
const CHARACTERS_MAX = 16_384

/**
 * Joins two lists of the values by which a flow is found, such as its Events: each once, in sort order, the first ones up to the one that
 * reaches a limit of all characters. That one is kept, so that what comes after it stays cut off whatever is joined later: neither order nor
 * repetition matters.
 */
export function joinFlowValues(one: readonly string[], other: readonly string[]): readonly string[] {
  const values = [...new Set([...one, ...other])].sort()
  let characters = 0
  const end = values.findIndex((value) => {
    characters += value.length
    return characters >= CHARACTERS_MAX
  })
  return end === -1 ? values : values.slice(0, end + 1)
}
