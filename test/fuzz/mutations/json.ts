import { type JsonNode, raw, replaced, sizeOf, treeOf } from '../json-tree.ts'
import type { Random } from '../random.ts'
import { characterOf, GUIDS, NAMES, NUMBERS, TIMES, textOf } from '../values.ts'

type Change = (node: JsonNode, random: Random) => JsonNode

const NESTED_MAX = 20_000
const REPEATED_MAX = 5_000
const LONG_MAX = 20_000
const VERY_LONG_MAX = 400_000

const string = (text: string): JsonNode => raw(JSON.stringify(text))

const another: Change = (_node, random) =>
  random.weighted<() => JsonNode>([
    [3, () => raw(random.pick(['null', 'true', 'false', '""', '[]', '{}', '[[]]', '[null]', '{"":null}']))],
    [3, () => raw(random.pick(NUMBERS))],
    [2, () => string(random.pick(TIMES))],
    [1, () => string(random.pick(GUIDS))],
    [3, () => string(textOf(random))],
    [1, () => string(random.pick(NAMES))],
    [1, () => string(random.pick(['Error', 'warning', 'CRITICAL', 'none', 'Information ', '6']))],
  ])()

const nested: Change = (node, random) => {
  const levels = random.size(NESTED_MAX)
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"a":[', ']}'],
  ] as const)
  const inside = node.type === 'raw' ? node.text : '1'
  return raw(open.repeat(levels) + inside + close.repeat(random.oneIn(6) ? levels - 1 : levels))
}

const many: Change = (_node, random) => {
  const count = random.size(REPEATED_MAX)
  const item = random.pick(['1', '""', '{}', '[]', 'null', '{"a":1}', '"\\u0000"'])
  if (random.oneIn(2)) return raw(`[${Array.from({ length: count }, () => item).join(',')}]`)
  const same = random.oneIn(3)
  return raw(`{${Array.from({ length: count }, (_, index) => `"k${same ? '' : index}":${item}`).join(',')}}`)
}

const long: Change = (_node, random) => {
  const unit = random.oneIn(2) ? random.pick(['a', 'a ', 'ä', '😀', '\\u0000', '{a}', '\\n at x', '\\"']) : undefined
  const piece = unit ?? JSON.stringify(textOf(random)).slice(1, -1)
  return raw(
    `"${piece.repeat(Math.ceil(random.size(random.oneIn(25) ? VERY_LONG_MAX : LONG_MAX) / Math.max(1, piece.length)))}"`,
  )
}

/** Lone surrogates and control characters, escaped or raw. */
const strange: Change = (_node, random) =>
  raw(random.pick(['"\\ud800"', '"\\udc00\\ud800"', '"a\\u0000b"', '"\\u202e"', '"\ud83d"', '"\x01"', '"\\x"', '"\t"']))

const noJson: Change = (_node, random) =>
  raw(
    random.pick([
      '',
      'NaN',
      'Infinity',
      '01',
      '+1',
      '1.',
      '.5',
      "'a'",
      '// x',
      'undefined',
      '"',
      '[1,]',
      '{a:1}',
      '\ufeff1',
    ]),
  )

/** Adds a member or an item; replaces a scalar value. */
const altered: Change = (node, random) => {
  if (node.type === 'raw') return another(node, random)
  const more = another(node, random)
  if (node.type === 'array') {
    const { items } = node
    const at = random.int(items.length + 1)
    const item = items[random.int(items.length)] ?? more
    return random.pick<() => JsonNode>([
      () => ({ type: 'array', items: items.toSpliced(at, 0, more) }),
      () => ({ type: 'array', items: items.toSpliced(at, 1) }),
      () => ({ type: 'array', items: Array.from({ length: random.size(300) }, () => item) }),
    ])()
  }
  const { members } = node
  const at = random.int(members.length + 1)
  const key = random.oneIn(2) ? random.pick(NAMES) : textOf(random, 3)
  const [again = key] = members[random.int(members.length)] ?? []
  return random.pick<() => JsonNode>([
    () => ({ type: 'object', members: members.toSpliced(at, 0, [key, more]) }),
    () => ({ type: 'object', members: members.toSpliced(at, 0, [again, more]) }),
    () => ({ type: 'object', members: members.toSpliced(at, 1) }),
    () => ({ type: 'object', members: members.toSpliced(at, 1, [again + characterOf(random), more]) }),
  ])()
}

/** Fields that the views interpret beyond their text. */
const rendered: Change = (_node, random) =>
  random.pick<() => JsonNode>([
    () =>
      treeOf({ Scopes: Array.from({ length: random.size(200) }, () => ({ '{OriginalFormat}': '{a}{b}', a: 'x' })) }),
    () => treeOf({ '{OriginalFormat}': '{a}'.repeat(random.size(500)), a: textOf(random) }),
    () => string(`System.Exception: a\n${'   at A.B(C) in /x.cs:line 1\n'.repeat(random.size(500))}`),
    () => string(JSON.stringify({ [textOf(random)]: [{ deep: { deeper: random.pick(NAMES) } }] })),
    () => string('Traceback (most recent call last):\n  File "x", line 1, in y\nZ: w\n\nDuring handling of …'),
  ])()

const CHANGES: readonly (readonly [number, readonly [name: string, Change]])[] = [
  [8, ['another value', another]],
  [8, ['altered members', altered]],
  [3, ['rendered', rendered]],
  [2, ['nested', nested]],
  [2, ['many values', many]],
  [2, ['long text', long]],
  [2, ['strange text', strange]],
  [1, ['no JSON', noJson]],
]

/** Mutates one node of the tree; also returns the mutation's name. */
export function mutatedJson(tree: JsonNode, random: Random): readonly [name: string, JsonNode] {
  const [name, change] = random.weighted(CHANGES)
  return [name, replaced(tree, random.int(sizeOf(tree)), (node) => change(node, random))]
}
