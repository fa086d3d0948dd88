/** `npm run bench:fingerprints`: compares message groups with those made by people, and measures their cost. See `-- --help`. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { templateOf } from '../../shared/fingerprint/template.ts'
import { table, whole } from '../numbers.ts'
import { groupingAccuracy, type Line, linesOf, mistakes } from './grouping.ts'

const HELP = `npm run bench:fingerprints -- --folder DIR [--show NAME]

Groups the messages of labelled logs by their fingerprints and prints the grouping accuracy of each dataset beside that published for Drain.

  --folder DIR  Has the datasets, at any depth: files named *.log_structured.csv, of https://github.com/logpai/loghub for example.
                They are free for research and are no part of this repository.
  --show NAME   Prints the groups of one dataset that are wrong, the largest first, in place of the table.
`

/** https://github.com/logpai/logparser/blob/main/logparser/Drain/README.md: samples of 2,000 lines, with settings tuned for each. */
const DRAIN: Readonly<Record<string, number>> = {
  Android: 0.911,
  Apache: 1,
  BGL: 0.9625,
  HDFS: 0.9975,
  HPC: 0.887,
  Hadoop: 0.9475,
  HealthApp: 0.78,
  Linux: 0.69,
  Mac: 0.7865,
  OpenSSH: 0.7875,
  OpenStack: 0.7325,
  Proxifier: 0.5265,
  Spark: 0.92,
  Thunderbird: 0.955,
  Windows: 0.997,
  Zookeeper: 0.9665,
}
const SUFFIX = /(?:_\w+)?\.log_structured\.csv$/
const RUNS = 20

const { values } = parseArgs({
  options: { folder: { type: 'string' }, show: { type: 'string' }, help: { type: 'boolean', default: false } },
})

const fixed = (value: number | undefined): string => value?.toFixed(3) ?? ''
const mean = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length

/** Datasets by name. */
function readDatasets(folder: string): ReadonlyMap<string, readonly Line[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => SUFFIX.test(file))
  return new Map(
    files.sort().map((file) => [basename(file).replace(SUFFIX, ''), linesOf(readFileSync(join(folder, file), 'utf8'))]),
  )
}

const groupOf = (message: string): string => templateOf({ message, scopeData: null }) ?? ''

/** CPU time per message in microseconds: the best of several runs, as other processes interfere. */
function costOf(messages: readonly string[]): number {
  const times = Array.from({ length: RUNS }, () => {
    const start = process.cpuUsage()
    for (const message of messages) groupOf(message)
    return process.cpuUsage(start).user / messages.length
  })
  return Math.min(...times)
}

function report(datasets: ReadonlyMap<string, readonly Line[]>): string {
  const rows = [...datasets].map(([name, lines]) => ({
    name,
    accuracy: groupingAccuracy(lines, groupOf),
    drain: DRAIN[name],
    groups: new Set(lines.map(({ message }) => groupOf(message))).size,
    labels: new Set(lines.map(({ label }) => label)).size,
  }))
  const published = rows.flatMap(({ drain }) => drain ?? [])
  const means = [rows.map(({ accuracy }) => accuracy), published.length === rows.length ? published : []]
  const accuracies = table(
    ['dataset', 'Sluice', 'Drain, published', 'groups', 'templates'],
    [
      ...rows.map(({ name, accuracy, drain, groups, labels }) => [
        name,
        fixed(accuracy),
        fixed(drain),
        String(groups),
        String(labels),
      ]),
      ['mean', ...means.map((numbers) => (numbers.length === 0 ? '' : fixed(mean(numbers)))), '', ''],
    ],
  )
  const messages = [...datasets.values()].flatMap((lines) => lines.map(({ message }) => message))
  return `${accuracies}\n${whole(messages.length)} messages, ${costOf(messages).toFixed(1)} µs of CPU each.\n`
}

function main(): void {
  if (values.help || values.folder === undefined) return void process.stdout.write(HELP)
  const datasets = readDatasets(values.folder)
  const shown = values.show === undefined ? undefined : datasets.get(values.show)
  if (datasets.size === 0 || (values.show !== undefined && shown === undefined)) {
    const missing = datasets.size === 0 ? 'files named *.log_structured.csv' : `dataset ${values.show}`
    process.stderr.write(`${values.folder} has no ${missing}\n`)
    process.exitCode = 1
    return
  }
  process.stdout.write(shown === undefined ? report(datasets) : mistakes(shown, groupOf))
}

main()
