import type { Plan } from '../plan.ts'
import type { Context } from '../requests/context.ts'
import { SENT } from './sent.ts'
import { STORED } from './stored.ts'
import type { Attack, Size } from './tools.ts'

/** All attacks, by name: each has harmed Sluice or similar programs. */
export const ATTACKS: Readonly<Record<string, Attack>> = { ...STORED, ...SENT }

/** One attack in this many is at full size. */
const FULL_ONE_IN = 6

/** A random attack, usually at small size. */
export function attackPlan(number: number, context: Context): Plan {
  const { random } = context
  const [name, attack] = random.pick(Object.entries(ATTACKS))
  return planFor(name, attack, number, context, random.oneIn(FULL_ONE_IN) ? 'full' : 'small')
}

/** The named attack at full size. */
export const fullAttack = (name: string, number: number, context: Context): Plan =>
  planFor(name, ATTACKS[name] as Attack, number, context, 'full')

const planFor = (name: string, attack: Attack, number: number, context: Context, size: Size): Plan => ({
  number,
  label: `attack ${name} (${size})`,
  stages: attack(context, size),
})
