import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Suites of this project are the shortest, and share processes: they fill up the end of a run. */
const LAST = 'fast'

/**
 * The order of test files: those of all projects but the last are spread evenly over the run, as suites with servers wait for most of
 * their time and suites with a browser do not. On a new machine Vitest knows no durations and begins with the largest files, but the
 * slowest suites are files of a few lines that play shared scenarios: they would come last, and one of them would run on alone. Within
 * a project the order is Vitest's.
 */
export class Interleaved extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name)
    const placed = [...byProject].flatMap(([name, own]) =>
      own.map((file, index) => ({ file, place: name === LAST ? 1 : index / own.length })),
    )
    return placed.toSorted((a, b) => a.place - b.place).map(({ file }) => file)
  }
}
