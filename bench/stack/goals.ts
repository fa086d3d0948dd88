import { table } from '../numbers.ts'

/** A figure that a bench run should reach, and its measured value. */
export interface Goal {
  readonly name: string
  readonly wanted: string
  readonly reached: string
  readonly met: boolean
}

export const renderGoals = (goals: readonly Goal[]): string =>
  table(
    ['goal', 'wanted', 'reached', ''],
    goals.map(({ name, wanted, reached, met }) => [name, wanted, reached, met ? 'met' : 'not met']),
  )
