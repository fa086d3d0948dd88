import fc from 'fast-check'

// Tests import the library from here, with the replacements below.
export * from 'fast-check'

// Otherwise a list has some ten elements at most, however many `maxLength` allows.
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true })

/** fast-check's own default. */
const USUAL_RUNS = 100

/**
 * The number of cases for a property test of `runs` cases: all with PROPERTY_RUNS=full, as set by `npm test`, else a fifth if there are at
 * least 100, so that `npm run check` stays fast. Tests that ask for fewer need all of them.
 */
export const runsOf = (runs: number): number =>
  runs < USUAL_RUNS || process.env['PROPERTY_RUNS'] === 'full' ? runs : Math.ceil(runs / 5)

export const assert = ((property, options = {}) =>
  fc.assert(property, { ...options, numRuns: runsOf(options.numRuns ?? USUAL_RUNS) })) as typeof fc.assert

const SURROGATES_START = 0xd800
const SURROGATES = 0x800

/** Any code point except surrogates. The library's own builds a table of them, which costs a second of CPU per test file. */
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

export const jsonValue: typeof fc.jsonValue = ({ noUnicodeString = true, depthSize = 'small', ...constraints } = {}) =>
  fc.jsonValue({ depthSize, ...constraints, ...(noUnicodeString ? {} : { stringUnit: codePoint }) })
