import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'

/** A problem to fix in a file. */
export interface FileProblem {
  /** Counted from 1; null if it concerns the whole file. */
  readonly line: number | null
  readonly message: string
}

/** About a text with a NUL, as in every file that was saved as UTF-16, and in one that was written half before a crash. */
export const NOT_UTF8 = 'the file is not UTF-8 text, or is damaged; save it as UTF-8'

/** Orders problems by line; those of the whole file come first. */
export const byLine = (one: FileProblem, other: FileProblem): number => (one.line ?? 0) - (other.line ?? 0)

/** A problem as text, with its line if that is known. */
export const problemText = ({ line, message }: FileProblem): string =>
  line === null ? message : `line ${line}: ${message}`

/** A value in a YAML file, and its line. */
export interface YamlValue {
  readonly line: number
  readonly value:
    | { readonly type: 'map'; readonly fields: readonly YamlField[] }
    | { readonly type: 'list'; readonly items: readonly YamlValue[] }
    /** Text, a number, true, false or null. */
    | { readonly type: 'scalar'; readonly scalar: unknown }
}

interface YamlField {
  readonly name: string
  /** The line of its name. */
  readonly line: number
  readonly content: YamlValue
}

/** Maximum nesting; deeper values are read as null. This also ends an alias that contains itself. */
const DEPTH_MAX = 6

/** Maximum aliases that are followed, including those within aliases, so that a few lines cannot stand for millions. */
const ALIASES_MAX = 100

/** Parser errors whose message is constant, so that it quotes nothing of the file. */
const PLAIN_ERRORS: ReadonlySet<string> = new Set([
  'BAD_INDENT',
  'BLOCK_AS_IMPLICIT_KEY',
  'BLOCK_IN_FLOW',
  'DUPLICATE_KEY',
  'MISSING_CHAR',
  'MULTILINE_IMPLICIT_KEY',
  'NON_STRING_KEY',
  'TAB_AS_INDENT',
])

/**
 * Reads one YAML document (1.2, core schema) with its line numbers; undefined if it is empty or not YAML. A problem never quotes the file,
 * as it may contain keys.
 */
export function readYaml(text: string): {
  readonly root: YamlValue | undefined
  readonly problems: readonly FileProblem[]
} {
  const lines = new LineCounter()
  const document: Document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true })
  const problems = [...document.errors, ...document.warnings].map(({ pos, code, message }) => ({
    line: lines.linePos(pos[0]).line,
    message:
      code === 'MULTIPLE_DOCS'
        ? 'a second document begins; the file must be one'
        : `the file is no valid YAML: ${PLAIN_ERRORS.has(code) ? message : code.toLowerCase().replaceAll('_', ' ')}`,
  }))
  if (problems.length > 0) return { root: undefined, problems }
  if (document.contents === null || (isScalar(document.contents) && document.contents.value === null)) {
    return { root: undefined, problems: [{ line: null, message: 'the file is empty' }] }
  }
  const budget = { aliases: ALIASES_MAX }
  const root = convert(document.contents, { document, lines, budget, depth: 0, line: 1 })
  if (budget.aliases < 0) {
    return { root: undefined, problems: [{ line: null, message: `the file has more than ${ALIASES_MAX} aliases` }] }
  }
  return { root, problems: [] }
}

interface Context {
  readonly document: Document
  readonly lines: LineCounter
  readonly budget: { aliases: number }
  readonly depth: number
  /** The line to report if a node has none. */
  readonly line: number
}

function convert(node: unknown, context: Context): YamlValue {
  const { document, lines, budget, depth } = context
  const line = lineOf(node, lines) ?? context.line
  if (isAlias(node)) budget.aliases -= 1
  if (depth > DEPTH_MAX || budget.aliases < 0) return { line, value: { type: 'scalar', scalar: null } }
  const target: Node | undefined = isAlias(node) ? node.resolve(document) : isNode(node) ? node : undefined
  const inside = { ...context, depth: depth + 1, line }
  if (isMap(target)) {
    const fields = target.items.map(({ key, value }) => {
      const nameLine = lineOf(key, lines) ?? line
      const name = isScalar(key) ? String(key.value) : ''
      return { name, line: nameLine, content: convert(value, { ...inside, line: nameLine }) }
    })
    return { line, value: { type: 'map', fields } }
  }
  if (isSeq(target)) return { line, value: { type: 'list', items: target.items.map((item) => convert(item, inside)) } }
  return { line, value: { type: 'scalar', scalar: isScalar(target) ? target.value : null } }
}

const lineOf = (node: unknown, lines: LineCounter): number | undefined =>
  isNode(node) && node.range ? lines.linePos(node.range[0]).line : undefined
