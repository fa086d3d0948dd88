/** A mark identifies the entries of one request within a run; a damaged mark does not match. */
const MARK = /fz(\d+)s(\d+)c([0-9a-f]{4})x/

/** The mark of a request: its case's number, and its index among the case's requests. */
export const markOf = (number: number, place: number): string => `fz${number}s${place}c${checkOf(number, place)}x`

/** The first mark in a text, or undefined. */
export function markIn(text: string): string | undefined {
  const match = MARK.exec(text)
  if (match === null) return undefined
  const [, number, place, check] = match
  return checkOf(Number(number), Number(place)) === check ? match[0] : undefined
}

function checkOf(number: number, place: number): string {
  const hash = Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(place + 1, 0x85ebca6b)
  return ((hash ^ (hash >>> 15)) & 0xffff).toString(16).padStart(4, '0')
}
