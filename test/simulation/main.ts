/** `npm run simulate`: checks promises under schedules of faults, in virtual time. See `-- --help`. */
import { parseArgs } from 'node:util'
import { isMutantName, MUTANTS, type Mutant, putIn } from './mutants.ts'
import { takeOver, type World } from './world.ts'

const MODULES: Readonly<Record<string, string>> = { entries: './schedule.ts', teams: './teams.ts' }

const HELP = `npm run simulate -- [OPTIONS]

  --schedules N    Runs so many schedules, one after the other. Default 1000. Of one alone the trace is printed.
  --of NAME        What is simulated: ${Object.keys(MODULES).join(', ')}. Default: that of the mutant, or entries.
  --seed S         The seed of the first schedule, a whole number; the others have the numbers after it. Default: 1.
  --mutant NAME    Puts a fault into the program, which is to be found: ${Object.keys(MUTANTS).join(', ')}.

Ends at the first schedule that breaks a rule, with its trace and code 1. Without one the code is 0.
`

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    mutant: { type: 'string' },
    of: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const { mutant, help } = values
const fault: Mutant | undefined = mutant !== undefined && isMutantName(mutant) ? MUTANTS[mutant] : undefined
const of = values.of ?? fault?.of ?? 'entries'
const module = MODULES[of]
const [schedules, firstSeed] = [Number(values.schedules), Number(values.seed)]
const isAsked = Number.isSafeInteger(schedules) && schedules > 0 && Number.isSafeInteger(firstSeed) && firstSeed >= 0

const print = (lines: readonly string[]): void => void process.stdout.write(`${lines.join('\n')}\n`)

/** Returns whether every schedule kept the rules. */
async function simulate(runSchedule: (seed: number) => Promise<World>): Promise<boolean> {
  let steps = 0
  for (let index = 0; index < schedules; index += 1) {
    const seed = firstSeed + index
    const { trace, findings } = await runSchedule(seed)
    steps += trace.length
    const isBroken = findings.length > 0
    if (isBroken || schedules === 1) print(trace)
    if (isBroken) {
      const command = `npm run simulate -- --of ${of} --seed ${seed} --schedules 1${mutant === undefined ? '' : ` --mutant ${mutant}`}`
      print(['', ...findings, `found by seed ${seed}, schedule ${index + 1} of ${schedules}: ${command}`])
      return false
    }
  }
  print([`${schedules} schedules from seed ${firstSeed}: ${steps} steps, nothing found`])
  return true
}

if (help || !isAsked || module === undefined || (mutant !== undefined && fault === undefined)) {
  print([HELP])
  process.exitCode = help ? 0 : 2
} else {
  takeOver()
  if (fault !== undefined) putIn(fault)
  // Imported late, so that the program uses the world's clock, and contains the mutant.
  const { runSchedule } = await import(module)
  process.exitCode = (await simulate(runSchedule)) ? 0 : 1
}
