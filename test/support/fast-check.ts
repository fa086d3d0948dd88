import fc from 'fast-check'

// As every test takes it, with the functions below in place of the library's own.
export * from 'fast-check'

/** fast-check's own default. */
const USUAL_RUNS = 100

/**
 * The number of cases that a property test of `runs` cases tries: all of them with PROPERTY_RUNS=full, as `npm test` sets it, else a
 * fifth of a hundred and more, so that `npm run check` stays short. A test that asks for fewer needs them.
 */
export const runsOf = (runs: number): number =>
  runs < USUAL_RUNS || process.env['PROPERTY_RUNS'] === 'full' ? runs : Math.ceil(runs / 5)

export const assert = ((property, options = {}) =>
  fc.assert(property, { ...options, numRuns: runsOf(options.numRuns ?? USUAL_RUNS) })) as typeof fc.assert

const SURROGATES_START = 0xd800
const SURROGATES = 0x800

/** Any code point that is no surrogate. The library's own makes a table of all of them: a second of CPU in each test file. */
const codePoint = fc.integer({ min: 0, max: 0x10ffff - SURROGATES }).map(
  (index) => String.fromCodePoint(index < SURROGATES_START ? index : index + SURROGATES),
  (text) => {
    const point = typeof text === 'string' ? text.codePointAt(0) : undefined
    if (point === undefined || text !== String.fromCodePoint(point)) throw new Error('not one character')
    if (point >= SURROGATES_START && point < SURROGATES_START + SURROGATES) throw new Error('a surrogate')
    return point < SURROGATES_START ? point : point - SURROGATES
  },
)

export const string: typeof fc.string = (constraints = {}) =>
  fc.string(constraints.unit === 'binary' ? { ...constraints, unit: codePoint } : constraints)

export const jsonValue: typeof fc.jsonValue = ({ noUnicodeString = true, ...constraints } = {}) =>
  fc.jsonValue(noUnicodeString ? constraints : { ...constraints, stringUnit: codePoint })
