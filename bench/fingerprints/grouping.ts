/** A message with the template that a person assigned. */
export interface Line {
  readonly message: string
  readonly label: string
}

const CELL = /"((?:[^"]|"")*)"|([^",\r\n]*)/y
const HEAD = { message: 'Content', label: 'EventId' } as const

/** Parses a dataset in CSV with a header row (RFC 4180). Throws if one of the two columns is missing. */
export function linesOf(csv: string): readonly Line[] {
  const [head = [], ...rows] = rowsOf(csv)
  const [message, label] = [head.indexOf(HEAD.message), head.indexOf(HEAD.label)]
  if (message === -1 || label === -1) throw new Error(`the dataset needs the columns ${Object.values(HEAD).join(', ')}`)
  return rows.map((row) => ({ message: row[message] ?? '', label: row[label] ?? '' }))
}

function rowsOf(csv: string): readonly (readonly string[])[] {
  const rows: string[][] = []
  for (let at = 0, row: string[] = []; at < csv.length; ) {
    CELL.lastIndex = at
    const [whole = '', quoted, plain = ''] = CELL.exec(csv) ?? []
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    at += whole.length
    if (csv[at] === ',') at += 1
    else {
      at += csv.startsWith('\r\n', at) ? 2 : 1
      rows.push(row)
      row = []
    }
  }
  return rows
}

/**
 * The share of lines whose group contains exactly the lines of their label (Zhu et al., Tools and Benchmarks for Automated Log Parsing,
 * ICSE 2019, "parsing accuracy").
 */
export function groupingAccuracy(lines: readonly Line[], groupOf: (message: string) => string): number {
  const wrong = wrongGroups(lines, groupOf).reduce((sum, { count }) => sum + count, 0)
  return lines.length === 0 ? 1 : 1 - wrong / lines.length
}

/** A group that does not match a label: its number of lines, and for each label how many of the label's lines it contains. */
interface WrongGroup {
  readonly group: string
  readonly count: number
  readonly labels: ReadonlyMap<string, number>
}

function wrongGroups(lines: readonly Line[], groupOf: (message: string) => string): readonly WrongGroup[] {
  const ofLabels = counted(lines.map(({ label }) => label))
  const groups = Map.groupBy(lines, ({ message }) => groupOf(message))
  return [...groups]
    .map(([group, members]) => ({ group, count: members.length, labels: counted(members.map(({ label }) => label)) }))
    .filter(({ labels }) => labels.size > 1 || [...labels].some(([label, count]) => ofLabels.get(label) !== count))
    .sort((a, b) => b.count - a.count)
}

function counted(values: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

/** The wrong groups, one per line: those with several labels, and those with only a part of one label's lines. */
export function mistakes(lines: readonly Line[], groupOf: (message: string) => string): string {
  const wrong = wrongGroups(lines, groupOf)
  return wrong
    .map(({ group, count, labels }) => `${String(count).padStart(5)}  ${[...labels.keys()].join(' ')}  ${group}\n`)
    .join('')
}
