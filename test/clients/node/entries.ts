import { existsSync } from 'node:fs'

/** An entry that every client writes; test/clients/clients.ts expects them. */
export interface Sample {
  readonly message: string
  readonly attributes: {
    readonly order: number
    readonly ok: boolean
    readonly ratio: number
    readonly correlationKey: string
  }
  /** Of every fiftieth entry. */
  readonly error: Error | undefined
}

const { RUN, COUNT, PAUSE_MS, GO_FILE } = process.env

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** In the test of an outage, all clients go on at the same time. */
async function waitForGo(): Promise<void> {
  while (GO_FILE !== undefined && !existsSync(GO_FILE)) await pause(50)
}

/** Hands each entry to a logger: the names of its levels come round again, and an error has `failed`. */
export async function write(
  levels: readonly string[],
  failed: string,
  log: (level: string, sample: Sample) => void,
): Promise<void> {
  for (let n = 0; n < Number(COUNT); n += 1) {
    if (n === 10) await waitForGo()
    const error = n % 50 === 49 ? new TypeError(`no ${n}`, { cause: new RangeError(`below ${n}`) }) : undefined
    log(error === undefined ? (levels[n % levels.length] ?? '') : failed, {
      message: `${RUN} ${n}: Größe 漢字 😀`,
      attributes: { order: n, ok: true, ratio: 0.5, correlationKey: `${RUN}-${n % 10}` },
      error,
    })
    await pause(Number(PAUSE_MS))
  }
}
