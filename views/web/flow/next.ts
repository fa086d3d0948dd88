/**
 * The one after (`step` 1) or before (`step` -1) a place among ascending places, beginning again at the other end; undefined
 * where there is none. `from` is undefined before the first.
 */
export function nextOf(places: readonly number[], from: number | undefined, step: 1 | -1): number | undefined {
  if (step === 1) return places.find((place) => place > (from ?? -1)) ?? places[0]
  return places.findLast((place) => place < (from ?? Number.POSITIVE_INFINITY)) ?? places.at(-1)
}
