import { type Level, parseLevel } from '../shared/contract/levels.ts'

/** What other logging libraries call our levels, in lower case: Serilog, syslog, log4j, Python and their short forms. */
const LEVEL_BY_NAME: ReadonlyMap<string, Level> = new Map(
  Object.entries({
    Trace: ['verbose', 'vrb', 'finest'],
    Debug: ['dbg', 'fine', 'finer'],
    Information: ['info', 'inf', 'informational', 'notice'],
    Warning: ['warn', 'wrn'],
    Error: ['err', 'severe'],
    Critical: ['fatal', 'ftl', 'crit', 'alert', 'emergency', 'emerg', 'panic'],
  } satisfies Record<Level, readonly string[]>).flatMap(([level, names]) =>
    names.map((name): [string, Level] => [name, level as Level]),
  ),
)

/** The level that a name of another library stands for, in any case; undefined where it stands for none. */
export const foreignLevel = (name: string): Level | undefined =>
  parseLevel(name) ?? LEVEL_BY_NAME.get(name.toLowerCase())
