import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { reportCertificates } from '../../../../deploy/server/certificates.ts'
import { createMetrics } from '../../../../shared/runtime/metrics.ts'
import { createAuthority } from '../../../support/certificates.ts'
import { temporaryFolder } from '../../../support/sluice-process.ts'

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.remove())

const NONE = { KAFKA_SSL_CA_FILE: null, KAFKA_SSL_CERT_FILE: null, ELASTICSEARCH_CA_FILE: null }

async function reported(files: Partial<Record<keyof typeof NONE, string>>): Promise<Record<string, number>> {
  const metrics = createMetrics()
  reportCertificates({ ...NONE, ...files }, metrics)
  const { values } = await metrics.gauge('sluice_certificate_not_after_seconds').get()
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels['use']), value]))
}

function fileOf(name: string, text: string): string {
  const path = join(folder.path, name)
  writeFileSync(path, text)
  return path
}

test('the end of every certificate that is configured is told', async () => {
  const authority = createAuthority('test')
  const { certificate } = authority.issue('client')
  const endOf = (pem: string) => new X509Certificate(pem).validToDate.getTime() / 1_000
  const kafka = fileOf('ca.pem', authority.certificate + certificate)
  expect(await reported({})).toEqual({})
  expect(await reported({ KAFKA_SSL_CA_FILE: kafka, ELASTICSEARCH_CA_FILE: fileOf('es.pem', certificate) })).toEqual({
    kafka_ca: Math.min(endOf(authority.certificate), endOf(certificate)),
    elasticsearch_ca: endOf(certificate),
  })
})

test('a file that cannot be read, or holds none, tells nothing', async () => {
  const text = fileOf('text.pem', 'no certificate')
  expect(await reported({ KAFKA_SSL_CERT_FILE: join(folder.path, 'none.pem'), KAFKA_SSL_CA_FILE: text })).toEqual({})
})
