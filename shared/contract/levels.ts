/** The log levels of the specification (2.2), from the least to the most severe. */
export const LEVELS = ['Trace', 'Debug', 'Information', 'Warning', 'Error', 'Critical'] as const

export type Level = (typeof LEVELS)[number]

/** Entries of each level; a level without any may be absent. */
export type LevelCounts = Readonly<Partial<Record<Level, number>>>

/** A level's severity: 0 for Trace to 5 for Critical, as in .NET's LogLevel. */
export const levelRank = (level: Level): number => LEVELS.indexOf(level)

/** The level of a rank that a store has; that of a damaged one is Trace. */
export const levelOf = (rank: number): Level => LEVELS[rank] ?? 'Trace'

const bySpelling = new Map<string, Level>(
  LEVELS.flatMap((level) => [[level, level] as const, [level.toLowerCase(), level] as const]),
)

/** The level that a client's text names, in any case; undefined if it names none. */
export const parseLevel = (text: string): Level | undefined =>
  bySpelling.get(text) ?? bySpelling.get(text.toLowerCase())
