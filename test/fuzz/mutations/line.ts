import { type Draft, inBytes, mutation } from '../draft.ts'
import { HOST } from '../material.ts'
import type { Random } from '../random.ts'
import { textOf } from '../values.ts'

type Change = (draft: Draft, random: Random) => Draft

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'PROPFIND',
  'QUERY',
  'TRACE',
  'get',
] as const
const ODD_METHODS = ['CONNECT', 'BREW', 'PRI', '', 'G ET', 'G\0T', 'X'.repeat(400)] as const
const VERSIONS = [
  'HTTP/1.0',
  'HTTP/1.2',
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/9.9',
  'http/1.1',
  'HTTP/1.1 ',
  '',
  'RTSP/1.0',
  'HTTP/11',
] as const
const STRANGE_PARTS = [
  '%',
  '%00',
  '%2F',
  '%2e%2e',
  '%C0%AE',
  '%ED%A0%80',
  '%u0041',
  '/',
  '//',
  '/./',
  '/../',
  ';a=b',
  '\\',
  '?',
  '#',
  '@',
  '+',
] as const

const method: Change = (draft, random) => {
  const name = random.pick(METHODS)
  // The body is kept even if the new method should have none.
  return mutation(draft, `method ${name}`, {
    method: name,
    dialect: 'any',
    torn: draft.torn || name === 'TRACE' || name === 'get',
  })
}

/** Another spelling of a path, equivalent or meaningless. */
const path: Change = (draft, random) => {
  const { target: old } = draft
  const end = old.includes('?') ? old.indexOf('?') : old.length
  const at = random.int(end + 1)
  const changed = random.weighted<() => string>([
    [3, () => old.slice(0, at) + random.pick(STRANGE_PARTS) + old.slice(at)],
    [2, () => old.slice(0, end).toUpperCase() + old.slice(end)],
    [1, () => `${old.slice(0, end)}/${old.slice(end)}`],
    [1, () => old + (old.includes('?') ? '&' : '?') + encodeURIComponent(textOf(random, 4).toWellFormed())],
    [1, () => `http://${HOST}${old}`],
    [1, () => old.slice(0, at)],
    [1, () => old.slice(0, end) + '/x'.repeat(random.size(2_000)) + old.slice(end)],
  ])()
  const target = changed.startsWith('/') || changed.startsWith('http') ? changed : `/${changed}`
  return mutation(draft, 'another path', { target, dialect: 'any' })
}

const INTACT: readonly (readonly [number, Change])[] = [
  [2, method],
  [3, path],
]

/** Another method or path; the message stays a single request that has to be answered. */
export const otherLine: Change = (draft, random) => random.weighted(INTACT)(draft, random)

const TORN: readonly (readonly [number, Change])[] = [
  [2, (draft, random) => mutation(draft, 'an odd method', { method: random.pick(ODD_METHODS), torn: true })],
  [2, (draft, random) => mutation(draft, 'another version', { version: random.pick(VERSIONS), torn: true })],
  [2, (draft, random) => mutation(draft, 'an odd target', { target: oddTarget(draft, random), torn: true })],
  [
    1,
    (draft, random) =>
      mutation(draft, 'a long target', {
        target: `${draft.target}?q=${'a'.repeat(random.between(8_000, 80_000))}`,
        torn: true,
      }),
  ],
]

const oddTarget = ({ target }: Draft, random: Random): string =>
  random.pick([
    '',
    '*',
    HOST,
    `${HOST}:443`,
    `//${HOST}${target}`,
    'http://',
    `${target} x`,
    inBytes(`${target}é😀`),
    `${target}\t`,
    `${target}\0`,
    `http://user:x@${HOST}:1${target}`,
  ])

/** A request line that may be invalid. */
export const tearingLine: Change = (draft, random) => random.weighted(TORN)(draft, random)
