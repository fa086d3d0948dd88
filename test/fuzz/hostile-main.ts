/** `npm run hostile`: measures the effect of attacks on the running program, and on honest clients beside them. See `-- --help`. */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { stopServersOnSignals } from '../../bench/stack/servers.ts'
import { ATTACK_NAMES } from './hostile.ts'
import { HEADER, measure, rowText } from './hostile-measure.ts'
import { programsOf } from './modes.ts'
import { findingText } from './report.ts'

const HELP = `npm run hostile -- [OPTIONS]

  --seconds N      How long it attacks. Default 60.
  --mode MODE      embedded (default): one process. full: three, with Kafka and Elasticsearch from Docker or this machine's Java.
  --attack NAME    Only this attack; several times for several.
  --each           One attack after the other, each on a program of its own. Without it, all at once in random order.
  --seed S         A whole number; the same seed makes the same attacks. Default 1.
  --lanes N        Attacks at a time. Default 4.
  --alone N        How many seconds the honest clients are measured alone before. Default 10.
  --root DIR       The checkout whose program is attacked. Default: this one.

Attacks: ${ATTACK_NAMES.join(', ')}.
Prints a row a measurement, and ends with code 1 where something was found.
`

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    mode: { type: 'string', default: 'embedded' },
    attack: { type: 'string', multiple: true, default: [...ATTACK_NAMES] },
    each: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    lanes: { type: 'string', default: '4' },
    alone: { type: 'string', default: '10' },
    root: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

stopServersOnSignals()

const { mode, attack: names, each, root } = values
const [seconds, seed, lanes, alone] = [values.seconds, values.seed, values.lanes, values.alone].map(Number)
const isKnown = names.every((name) => ATTACK_NAMES.includes(name))
const areNumbers = [seconds, seed, lanes, alone].every((value) => Number.isSafeInteger(value) && Number(value) >= 0)
const print = (text: string): void => void process.stdout.write(`${text}\n`)

if (values.help || (mode !== 'embedded' && mode !== 'full') || !isKnown || !areNumbers) {
  print(HELP)
  process.exitCode = values.help ? 0 : 2
} else {
  const programs = await programsOf(mode)
  try {
    const rows: string[] = []
    for (const attacks of each ? names.map((name) => [name]) : [names]) {
      const row = await measure(attacks, {
        seconds: Number(seconds),
        aloneSeconds: Number(alone),
        lanes: Number(lanes),
        seed: Number(seed),
        ...programs,
        root: root === undefined ? undefined : resolve(root),
        onFinding: (finding) =>
          print(findingText(finding, () => `npm run hostile -- --mode ${mode} --seed ${seed} --attack '${attacks}'`)),
      })
      rows.push(rowText(row))
      print(rowText(row))
      if (row.found > 0) process.exitCode = 1
    }
    print(['', ...HEADER, ...rows].join('\n'))
  } finally {
    await programs.stop()
  }
}
