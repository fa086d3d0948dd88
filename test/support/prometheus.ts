import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts } from '../stack/ports.ts'
import { temporaryFolder } from './sluice-process.ts'

interface FiringAlert {
  readonly name: string
  readonly severity: string
}

export interface Prometheus {
  /** Changes the processes whose metrics are read, by their URLs. */
  read(urls: readonly string[]): void
  /** Whether a query has a result. */
  answers(query: string): Promise<boolean>
  firing(): Promise<readonly FiringAlert[]>
  stop(): Promise<void>
}

/** Starts Prometheus with a file of rules; it reads metrics and evaluates the rules every second. */
export async function startPrometheus(rules: string): Promise<Prometheus> {
  const folder = temporaryFolder()
  const file = (name: string): string => join(folder.path, name)
  const [port = 0] = await freePorts(1)
  const read = (urls: readonly string[]): void =>
    writeFileSync(file('targets.json'), JSON.stringify([{ targets: urls.map((url) => new URL(url).host) }]))
  read([])
  writeFileSync(file('rules.yaml'), rules)
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [file('rules.yaml')],
    scrape_configs: [
      { job_name: 'sluice', file_sd_configs: [{ files: [file('targets.json')], refresh_interval: '1s' }] },
    ],
  }
  writeFileSync(file('prometheus.yaml'), JSON.stringify(config))
  const args = [
    `--config.file=${file('prometheus.yaml')}`,
    `--storage.tsdb.path=${file('data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]
  const child = spawn('prometheus', args, { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()
  return {
    read,
    answers: async (query) => (await ask(`query?query=${encodeURIComponent(query)}`)).data?.result.length > 0,
    firing: async () => {
      const { data } = (await ask('alerts')) as {
        data: { alerts: readonly { state: string; labels: { alertname: string; severity: string } }[] }
      }
      return data.alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels }) => ({ name: labels.alertname, severity: labels.severity }))
    },
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      folder.remove()
    },
  }
}
