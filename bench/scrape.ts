import { pause } from '../shared/runtime/waiting.ts'

/** A sample in the Prometheus text format: name, labels as written, value. */
export interface Sample {
  readonly name: string
  readonly labels: string
  readonly value: number
}

export async function metrics(url: string): Promise<readonly Sample[]> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return [...text.matchAll(/^(\w+)(?:\{([^}]*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels,
    value: Number(value),
  }))
}

/** The sum over all labels; 0 if there is no sample. */
export const total = (samples: readonly Sample[], name: string): number =>
  samples.reduce((sum, sample) => (sample.name === name ? sum + sample.value : sum), 0)

/** Resolves when every accepted entry is indexed. */
export async function drained(url: string): Promise<void> {
  for (;;) {
    const samples = await metrics(url)
    const accepted = total(samples, 'sluice_entries_accepted_total')
    const indexed = samples
      .filter(({ name, labels }) => name === 'sluice_consumer_records_total' && !labels.includes('view="flows"'))
      .reduce((sum, { value }) => sum + value, 0)
    if (indexed >= accepted) return
    await pause(50)
  }
}

/** The upper bound of the bucket that a quantile falls into, for the observations between two scrapes. */
export function histogramQuantile(
  quantile: number,
  name: string,
  before: readonly Sample[],
  after: readonly Sample[],
): number {
  const growth = new Map<number, number>()
  const add = (samples: readonly Sample[], sign: number) => {
    for (const sample of samples) {
      if (sample.name !== `${name}_bucket`) continue
      const le = /le="([^"]+)"/.exec(sample.labels)?.[1]
      const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le)
      growth.set(bound, (growth.get(bound) ?? 0) + sign * sample.value)
    }
  }
  add(before, -1)
  add(after, 1)
  const observed = growth.get(Number.POSITIVE_INFINITY) ?? 0
  const bounds = [...growth.keys()].sort((a, b) => a - b)
  return bounds.find((bound) => (growth.get(bound) ?? 0) >= quantile * observed) ?? Number.POSITIVE_INFINITY
}
