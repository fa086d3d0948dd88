import { parseArgs } from 'node:util'
import { MUTANTS, type MutantName, putIn } from './mutants.ts'
import { takeOver } from './world.ts'
const { values } = parseArgs({ options: { mutant: {type:'string'}, schedules: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } } })
const real = process.hrtime.bigint
takeOver()
if (values.mutant !== undefined) putIn(MUTANTS[values.mutant as MutantName])
const { runSchedule } = await import('./schedule.ts')
const began = real()
let lines = 0
for (let seed = Number(values.seed), left = Number(values.schedules); left > 0; left -= 1, seed += 1) {
  const world = await runSchedule(seed)
  lines += world.trace.length
  if (world.findings.length > 0 || Number(values.schedules) === 1) {
    if (values.mutant === undefined) process.stdout.write(world.trace.join('\n') + '\n')
    process.stdout.write( world.findings.join('\n') + `\n--seed ${seed} --schedules 1\n`)
    if (world.findings.length > 0) process.exit(1)
  }
}
process.stdout.write(`${values.schedules} schedules, ${lines} lines, ${Number(real() - began) / 1e6} ms\n`)
process.exit(0)
