import sequencer from '@jest/test-sequencer'

// The types of the package are those of its CommonJS form; an import gets the class itself.
const Sequencer = sequencer as unknown as typeof sequencer.default
type Tests = Parameters<sequencer.default['sort']>[0]

/** The projects of jest.config.ts by how long a suite of theirs takes, the slowest first. */
export const SLOWEST_FIRST = ['servers', 'clients', 'embedded', 'page', 'fast']

/**
 * The order of test files. On a new machine Jest knows no durations and begins with the largest files, but the slowest suites are files
 * of a few lines that play shared scenarios: they would come last, and one of them would run on alone. Within a project the order is Jest's.
 */
export default class SlowestFirst extends Sequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const place = ({ context }: Tests[number]): number => SLOWEST_FIRST.indexOf(context.config.displayName?.name ?? '')
    return (await super.sort(tests)).toSorted((a, b) => place(a) - place(b))
  }
}
