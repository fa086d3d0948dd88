import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The order of test files: that of the projects in vitest.config.ts, which has the slowest first. On a new machine Vitest knows no
 * durations and begins with the largest files, but the slowest suites are files of a few lines that play shared scenarios: they would
 * come last, and one of them would run on alone. Within a project the order is Vitest's.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { projects } = this.ctx
    return (await super.sort(files)).toSorted((a, b) => projects.indexOf(a.project) - projects.indexOf(b.project))
  }
}
