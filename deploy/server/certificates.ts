import { readFileSync } from 'node:fs'
import type { Config } from '../../shared/runtime/config.ts'
import { parseCertificates } from '../../shared/runtime/last-good.ts'
import type { Service } from '../../shared/runtime/lifecycle.ts'
import type { Metrics } from '../../shared/runtime/metrics.ts'
import { createRepeater } from '../../shared/runtime/repeat.ts'

/** The settings that name certificate files, with the label that the metric shows for each. */
const FILES = {
  KAFKA_SSL_CA_FILE: 'kafka_ca',
  KAFKA_SSL_CERT_FILE: 'kafka_client',
  ELASTICSEARCH_CA_FILE: 'elasticsearch_ca',
} as const satisfies Partial<Record<keyof Config, string>>

/** Certificates are renewed days before they expire, so once a minute is often enough. */
const LOOK_EVERY_MS = 60_000

/** Keeps the metric of when certificates expire in step with their files. */
export function createCertificateReport(config: Pick<Config, keyof typeof FILES>, metrics: Metrics): Service {
  const run = async (): Promise<void> => reportCertificates(config, metrics)
  return createRepeater({ name: 'certificates', intervalMs: LOOK_EVERY_MS, run, onError: () => undefined })
}

/** Sets the metric of when certificates expire. An unreadable file is reported by the adapter that needs it. */
export function reportCertificates(config: Pick<Config, keyof typeof FILES>, metrics: Metrics): void {
  const gauge = metrics.gauge('sluice_certificate_not_after_seconds')
  for (const [setting, use] of Object.entries(FILES)) {
    const path = config[setting as keyof typeof FILES]
    const ends = path === null ? undefined : firstEnd(path)
    if (ends !== undefined) gauge.set({ use }, ends / 1_000)
  }
}

/** When the first certificate of a file expires (milliseconds since 1970); undefined if the file has none, or one that is not whole. */
function firstEnd(path: string): number | undefined {
  try {
    return Math.min(...parseCertificates(readFileSync(path, 'utf8')).map(({ validToDate }) => validToDate.getTime()))
  } catch {
    return undefined
  }
}
