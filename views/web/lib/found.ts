/** A word or phrase that a search looks for, or a leaf whose value it asks for. */
export type Sought =
  /** `field` is the only text that may have it; undefined if any may. */
  | { readonly pattern: RegExp; readonly field: string | undefined }
  /** `leaf` is a name such as `scope.tenant`; `value` the beginning of its value, unless the search compares. */
  | { readonly leaf: string; readonly value: string }

/** A piece of a search: whether it is negated, its field, a range, and a phrase or a value, which may end in a star. */
const PIECE =
  /(-|NOT\s+)?(?:((?:\\.|[^\s():"\\])*):(?:\[[^\]]*\]?)?)?(?:"((?:\\.|[^"\\])*)"?|((?:\\.|[^\s():"\\*])+))?\*?/gs
const NEGATED_GROUP = /(?:-|NOT\s+)\((?:[^()]|\([^()]*\))*\)/g
const OPERATOR = /^(?:AND|OR)$/
const LEAF = /^(payload|scope)(?:data)?[.](.+)/is
const TEXTS: Readonly<Record<string, string>> = {
  message: 'message',
  msg: 'message',
  exception: 'exception',
  ex: 'exception',
  payload: 'payload',
}
const WORDS = /[\p{L}\p{N}]+/gu
const GAP = '[^\\p{L}\\p{N}]+'
/** A character of a word, in scripts that separate their words. */
const IN_WORD = '[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{N}]'

/** The words, phrases and leaves of a search, in its order; a word or phrase is matched as a whole, except before a `*`. */
export const soughtBy = (q: string): readonly Sought[] =>
  [...q.replace(NEGATED_GROUP, '').matchAll(PIECE)].flatMap(([piece, not, name, phrase, bare = '']): Sought[] => {
    if (not !== undefined || OPERATOR.test(bare)) return []
    const text = unescaped(phrase ?? bare)
    const [, family, path] = LEAF.exec(name ?? '') ?? []
    if (family && path) return [{ leaf: `${family.toLowerCase()}.${unescaped(path)}`, value: text }]
    const field = TEXTS[name?.toLowerCase() ?? '']
    const words = name === undefined || field !== undefined ? text.match(WORDS) : null
    if (words === null) return []
    const end = piece.endsWith('*') ? '' : `(?!${IN_WORD})`
    return [{ pattern: new RegExp(`(?<!${IN_WORD})${words.join(GAP)}${end}`, 'iu'), field }]
  })

const unescaped = (text: string): string => text.replace(/\\(.)/gs, '$1')

/** The words and phrases of the find of a flow, which are matched within words, in any text. */
export const soughtInFlow = (q: string): readonly Sought[] =>
  (q.match(/"[^"]*"?|\S+/g) ?? []).flatMap((piece) => {
    const words = piece.match(WORDS)
    return words === null ? [] : [{ pattern: new RegExp(words.join(GAP), 'iu'), field: undefined }]
  })

/** A pattern with one group that matches what is found in texts; undefined if there is nothing to match. */
export function foundBy(sought: readonly Sought[]): RegExp | undefined {
  const found = sought.flatMap((one) => ('pattern' in one ? one.pattern.source : []))
  return found.length === 0 ? undefined : new RegExp(`(${found.join('|')})`, 'giu')
}
