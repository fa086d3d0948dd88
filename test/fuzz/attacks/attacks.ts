import type { Plan } from '../plan.ts'
import type { Context } from '../requests/context.ts'
import { SENT } from './sent.ts'
import { STORED } from './stored.ts'
import type { Attack, Size } from './tools.ts'

/** Every attack that is known to have done harm here or to programs like this, by name. */
export const ATTACKS: Readonly<Record<string, Attack>> = { ...STORED, ...SENT }

/** One in so many is as large as the limits allow. */
const FULL_ONE_IN = 6

/** One of the attacks, most often a small form of it. */
export function attackPlan(number: number, context: Context): Plan {
  const { random } = context
  const [name, attack] = random.pick(Object.entries(ATTACKS))
  return planFor(name, attack, number, context, random.oneIn(FULL_ONE_IN) ? 'full' : 'small')
}

/** The attack of this name, as large as the limits allow. */
export const fullAttack = (name: string, number: number, context: Context): Plan =>
  planFor(name, ATTACKS[name] as Attack, number, context, 'full')

const planFor = (name: string, attack: Attack, number: number, context: Context, size: Size): Plan => ({
  number,
  label: `attack ${name} (${size})`,
  stages: attack(context, size),
})
