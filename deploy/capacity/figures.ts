import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The figures of docs/performance.md that a plan is based on. CPU times are in milliseconds of one core for 1,000 entries. */
export interface Figures {
  readonly gateway: Readonly<Record<Workload, GatewayFigures>>
  /** A consumer and Elasticsearch, when one projection indexes entries, and when all projections do, flows included. */
  readonly entries: IndexingFigures
  readonly all: IndexingFigures
}

export const WORKLOADS = ['single', 'batch', 'keyedSingle', 'keyedBatch'] as const
export type Workload = (typeof WORKLOADS)[number]

export interface GatewayFigures {
  readonly gatewayMs: number
  readonly brokerMs: number
}

interface IndexingFigures {
  readonly consumerMs: number
  readonly storeMs: number
}

const DOCUMENT = join(import.meta.dirname, '../../docs/performance.md')

const ROWS: Readonly<Record<Workload, string>> = {
  single: 'single',
  batch: 'batch of 100',
  keyedSingle: 'single, each entry of one of 5,000 flows',
  keyedBatch: 'batch of 100, each entry of one of 5,000 flows',
}

/** Reads the figures as the benchmarks wrote them. Throws if one is missing. */
export function readFigures(document = readFileSync(DOCUMENT, 'utf8')): Figures {
  const gateway = (workload: Workload): GatewayFigures => {
    const cell = rowOf(document, 'Gateway on Kafka', { workload: ROWS[workload], program: 'Sluice' })
    return {
      gatewayMs: 1_000_000 / cell('entries per CPU-s'),
      brokerMs: cell('broker CPU ms per 1,000'),
    }
  }
  const indexing = (writer: string): IndexingFigures => {
    const cell = rowOf(document, 'Consumers on Kafka and Elasticsearch', { writer })
    return { consumerMs: 1_000_000 / cell('documents per CPU-s'), storeMs: cell('Elasticsearch CPU ms per 1,000') }
  }
  return {
    gateway: {
      single: gateway('single'),
      batch: gateway('batch'),
      keyedSingle: gateway('keyedSingle'),
      keyedBatch: gateway('keyedBatch'),
    },
    entries: indexing('Sluice, the application-logs view'),
    all: indexing('Sluice, all views (flows folded as well)'),
  }
}

/** The numbers, by column, of the first row with these cells in a section's tables. */
function rowOf(
  document: string,
  heading: string,
  wanted: Readonly<Record<string, string>>,
): (column: string) => number {
  const section = document.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  let head: readonly string[] = []
  for (const line of section.split('\n')) {
    if (!line.startsWith('|')) {
      head = []
      continue
    }
    const cells = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim())
    if (head.length === 0) head = cells
    const found = head
    if (!Object.entries(wanted).every(([column, text]) => cells[found.indexOf(column)] === text)) continue
    return (column) => {
      const number = Number(cells[found.indexOf(column)]?.replaceAll(',', '') || Number.NaN)
      if (Number.isFinite(number)) return number
      throw new Error(`docs/performance.md has no number in the column "${column}" of ${JSON.stringify(wanted)}`)
    }
  }
  throw new Error(`docs/performance.md has no row ${JSON.stringify(wanted)} below "${heading}"`)
}
