import type { Random } from './random.ts'

const CHARACTERS = [
  '\0',
  '\x01',
  '\b',
  '\t',
  '\n',
  '\r\n',
  '\x1b[31m',
  '\x7f',
  '\u0085',
  '\u00a0',
  '\u00ad',
  '\u0130',
  'ß',
  'ﬁ',
  'e\u0301',
  '\u200b',
  '\u200e',
  '\u202e',
  '\u2028',
  '\u2029',
  '\ufeff',
  '\ufffe',
  '\uffff',
  '支付',
  'نص',
  '😀',
  '👩‍👩‍👧',
  '\ud800',
  '\udfff',
  '"',
  "'",
  '\\',
  '`',
  '<',
  '&',
  '%',
  '${',
  '{0}',
  '{a}',
  ';',
  ',',
  '=1+1',
  '＝1+1',
  '@x',
] as const

const WORDS =
  'order payment refused timeout the worker cache Session token http https error null undefined NaN true constructor'.split(
    ' ',
  )

/** A text of words, sometimes with a character that some layer may interpret. */
export function textOf(random: Random, wordsMax = 12): string {
  const pieces = Array.from({ length: random.size(wordsMax) }, () =>
    random.oneIn(8) ? random.pick(CHARACTERS) : random.pick(WORDS),
  )
  return pieces.join(random.oneIn(10) ? '' : ' ')
}

export const characterOf = (random: Random): string => random.pick(CHARACTERS)

/** Names with a meaning in JavaScript or in one of the stores. */
export const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  'then',
  'toJSON',
  '_id',
  '_source',
  '',
  '.',
  '..',
  'a.b',
  'a..b',
  ' a',
  '$ref',
  '@t',
  '@@mt',
  '{OriginalFormat}',
  'Scopes',
] as const

/** Numbers in JSON notation, at the limits of various types. */
export const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '0.1',
  '1e1',
  '1E+2',
  '1e-400',
  '1e400',
  '-1e400',
  '2147483647',
  '2147483648',
  '-2147483649',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '18446744073709551616',
  '123456789012345678901234567890',
  '1.00000000000000000001',
  '0.30000000000000004',
] as const

/** Times as written by senders, valid and invalid. */
export const TIMES = [
  '2026-01-31T09:30:00.123Z',
  '2026-01-31T09:30:00.123456789+02:00',
  '2026-01-31',
  '2026-02-30T00:00:00Z',
  '0001-01-01T00:00:00',
  '1969-12-31T23:59:59Z',
  '1970-01-01T00:00:00Z',
  '2261-12-31T23:59:59.999999999Z',
  '2262-01-01T00:00:00Z',
  '2026-01-31T24:00:00Z',
  '2026-01-31T09:30:00+14:00',
  '2026-01-31 09:30',
  '20260131T093000Z',
  'now',
  'now-1h',
  'now-9999999w',
  '1767225600',
] as const

export const GUIDS = [
  '00000000-0000-0000-0000-000000000000',
  '{3f2504e0-4f89-11d3-9a0c-0305e82c3301}',
  '3F2504E04F8911D39A0C0305E82C3301',
  '3f2504e0-4f89-11d3-9a0c-0305e82c330',
  'zf2504e0-4f89-11d3-9a0c-0305e82c3301',
] as const
