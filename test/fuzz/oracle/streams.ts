/** The first fault in server-sent events (WHATWG HTML, 9.2.6); the last line may be truncated. */
export function eventsProblem(text: string): string | undefined {
  const lines = text.split('\n')
  for (const line of lines.slice(0, -1)) {
    if (line === '' || line.startsWith(':')) continue
    const [, name, value = ''] = /^(id|event|data|retry): ?(.*)$/.exec(line) ?? []
    if (name === undefined) return `no line of an event stream: ${JSON.stringify(line.slice(0, 80))}`
    if (name === 'data' && !isJson(value)) return 'the data of an event are no JSON'
    if (name === 'retry' && !/^\d+$/.test(value)) return `retry: ${value}`
  }
  return undefined
}

/** The first fault in newline-delimited JSON. */
export function linesProblem(text: string): string | undefined {
  const lines = text.split('\n')
  if (lines.pop() !== '') return 'the last line has no end'
  const bad = lines.findIndex((line) => !isJson(line))
  return bad === -1 ? undefined : `line ${bad + 1} is no JSON`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Values that a spreadsheet would evaluate as formulas; the sign may follow blanks, and be full-width. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/

/** The first fault in a CSV file (RFC 4180) with a byte order mark and a header row. */
export function csvProblem(text: string): string | undefined {
  if (!text.startsWith('\ufeff')) return 'the CSV has no byte order mark'
  const rows = rowsOf(text.slice(1))
  if (typeof rows === 'string') return rows
  const [names = [], ...entries] = rows
  for (const row of entries) {
    if (row.length !== names.length) return `a row has ${row.length} cells, and there are ${names.length} columns`
    const formula = row.findIndex((cell, column) => names[column] !== 'eventId' && FORMULA.test(cell))
    if (formula !== -1) return `the cell ${names[formula]} begins like a formula`
  }
  return undefined
}

function rowsOf(text: string): string[][] | string {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y
    cell.lastIndex = at
    const match = cell.exec(text)
    if (match === null) return `the CSV ends or breaks at ${JSON.stringify(text.slice(at, at + 60))}`
    row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] !== ',') {
      rows.push(row)
      row = []
    }
    at = cell.lastIndex
  }
  return rows
}

/** Characters that XML 1.0 cannot hold. */
const NO_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u
const TAG = /<(?:(\/)([\w:-]+)\s*|([\w:-]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/)?|\?[^?]*\?|!--(?:[^-]|-[^-])*--)>/y
const TEXT = /(?:[^<&]|&(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)+/y

/** The first fault that makes a drawing malformed XML. */
export function xmlProblem(text: string): string | undefined {
  if (NO_XML.test(text)) return 'the SVG has a character that XML cannot hold'
  const open: string[] = []
  for (let at = 0; at < text.length; ) {
    const pattern = text[at] === '<' ? TAG : TEXT
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null) return `the SVG is no XML at ${JSON.stringify(text.slice(at, at + 60))}`
    at = pattern.lastIndex
    if (pattern === TEXT) continue
    const [, isEnd, ended, begun, , isEmpty] = match
    if (isEnd !== undefined && open.pop() !== ended) return `the SVG closes ${ended}, which is not open`
    if (begun !== undefined && isEmpty === undefined) open.push(begun)
  }
  return open.length === 0 ? undefined : `the SVG does not close ${open.join(', ')}`
}

const METRIC =
  /^(?:# (?:HELP|TYPE) .*|[a-zA-Z_:][\w:]*(?:\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*\})? (?:[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|Inf)|NaN)|)$/i

/** The first fault in metrics in the Prometheus text format. */
export function metricsProblem(text: string): string | undefined {
  const bad = text.split('\n').find((line) => !METRIC.test(line))
  return bad === undefined ? undefined : `no line of metrics: ${JSON.stringify(bad.slice(0, 100))}`
}
