/** A piece of a search: whether it is negated, its field, and a phrase or words. */
const PIECE = /(-|NOT\s+)?(?:([^\s():"]*):)?(?:"((?:\\.|[^"\\])*)"?|([^\s():"]+))?\*?/g
const TEXTS = /^(?:message|exception|payload)$/i
const OPERATOR = /^(?:AND|OR)$/
/** A character of a word, in scripts that separate their words. */
const IN_WORD = '[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{N}]'

/**
 * A pattern with one group that matches what a search finds in texts: its words and phrases, whole ones except before a `*`. The find of a
 * flow (`isFind`) looks for parts of words and has no fields. Undefined if there is nothing to match.
 */
export function foundBy(q: string, isFind: boolean): RegExp | undefined {
  const found = [...q.matchAll(PIECE)].flatMap(([piece, not, field = 'message', phrase, bare = '']) => {
    const isText = not === undefined && TEXTS.test(field) && !OPERATOR.test(bare)
    const words = (isFind ? piece : isText ? (phrase ?? bare) : '').match(/[\p{L}\p{N}]+/gu)
    if (words === null) return []
    const [begin, end] = isFind ? ['', ''] : [`(?<!${IN_WORD})`, piece.endsWith('*') ? '' : `(?!${IN_WORD})`]
    return [begin + words.join('[^\\p{L}\\p{N}]+') + end]
  })
  return found.length === 0 ? undefined : new RegExp(`(${found.join('|')})`, 'giu')
}
