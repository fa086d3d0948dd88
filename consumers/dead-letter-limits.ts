/**
 * When dead letters are a flood. Many at once tell of a bad deploy or a wrong topic rather than of bad data; going on would
 * drain the topic into the dead letters, so the consumer stops and lets an operator look.
 */
export interface DeadLetterLimits {
  /** Most dead letters in a row. */
  readonly runMax: number
  /** Greatest share (0 to 1) of dead letters among the last `windowRecords` records, judged once there are that many. */
  readonly ratioMax: number
  readonly windowRecords: number
}

/** What is remembered of a partition's records: true stands for a dead letter. */
export interface DeadLetterHistory {
  readonly run: number
  /** The last `windowRecords` records, oldest first. */
  readonly window: readonly boolean[]
}

export const NO_HISTORY: DeadLetterHistory = { run: 0, window: [] }

/** Whether there is no dead letter in it. */
export const isClean = ({ run, window }: DeadLetterHistory): boolean => run === 0 && !window.includes(true)

/** Too many records of a partition became dead letters. */
export class DeadLetterFloodError extends Error {
  override readonly name = 'DeadLetterFloodError'
}

/** The history after more records, and what makes them a flood, or null where they are none. */
export function judgeDeadLetters(
  history: DeadLetterHistory,
  isDeadLetter: readonly boolean[],
  { runMax, ratioMax, windowRecords }: DeadLetterLimits,
): { readonly history: DeadLetterHistory; readonly flood: string | null } {
  const records = [...history.window, ...isDeadLetter]
  const firstNew = history.window.length
  let dead = history.window.filter(Boolean).length
  let run = history.run
  let flood: string | null = null
  for (let index = firstNew; index < records.length; index += 1) {
    run = records[index] === true ? run + 1 : 0
    if (records[index] === true) dead += 1
    if (index >= windowRecords && records[index - windowRecords] === true) dead -= 1
    if (run > runMax) flood ??= `more than ${runMax} dead letters in a row`
    if (index + 1 >= windowRecords && dead > ratioMax * windowRecords) {
      flood ??= `${dead} dead letters among ${windowRecords} records`
    }
  }
  return { history: { run, window: records.slice(-windowRecords) }, flood }
}
