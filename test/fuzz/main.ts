/** `npm run fuzz`: sends invalid and hostile requests to the whole running program. See `-- --help`. */
import { parseArgs } from 'node:util'
import { stopServersOnSignals } from '../../bench/stack/servers.ts'
import { fuzz } from './fuzz.ts'

const HELP = `npm run fuzz -- [OPTIONS]

  --seconds N      Ends after so long. Default 60 where no --requests is given.
  --requests N     Ends after so many requests; a case has one or several.
  --seed S         A whole number; the same seed makes the same requests. Default: a random one, which is printed.
  --mode MODE      embedded (default): one process. full: three, with Kafka and Elasticsearch from Docker or this machine's Java.
  --replay K       Runs the case with this number alone, and prints what it sends and is answered.
  --lanes N        Cases at a time. Default 32.
  --no-attacks     Leaves out the known attacks.
  --no-stalls      Does not judge how soon the processes answer.
  --bail           Ends at the first finding.
`

const number = (text: string | undefined, name: string): number | undefined => {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`--${name} takes a whole number, not ${text}`)
  return value
}

const { values } = parseArgs({
  allowNegative: true,
  options: {
    seconds: { type: 'string' },
    requests: { type: 'string' },
    seed: { type: 'string' },
    mode: { type: 'string', default: 'embedded' },
    replay: { type: 'string' },
    lanes: { type: 'string', default: '32' },
    attacks: { type: 'boolean', default: true },
    stalls: { type: 'boolean', default: true },
    bail: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

stopServersOnSignals()

const { mode, attacks, stalls, bail } = values
if (values.help || (mode !== 'embedded' && mode !== 'full')) {
  process.stdout.write(HELP)
  process.exitCode = values.help ? 0 : 2
} else {
  const requests = number(values.requests, 'requests')
  const seed = number(values.seed, 'seed') ?? Math.floor(Math.random() * 2 ** 31)
  const print = (text: string): void => void process.stdout.write(`${text}\n`)
  print(`seed ${seed}`)
  const summary = await fuzz({
    mode,
    attacks,
    stalls,
    bail,
    requests,
    seconds: number(values.seconds, 'seconds') ?? (requests === undefined ? 60 : undefined),
    seed,
    replay: number(values.replay, 'replay'),
    lanes: number(values.lanes, 'lanes') ?? 64,
    print,
  })
  process.exitCode = summary.findings.length === 0 ? 0 : 1
}
