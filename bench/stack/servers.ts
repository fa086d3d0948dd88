import type { Backend } from '../../deploy/stack/backend.ts'
import { jvmProvider } from '../../deploy/stack/jvm.ts'
import { dockerProvider } from '../../test/support/backends-docker.ts'
import { startFirst } from '../../test/support/backends-host.ts'

const PROVIDERS = { docker: dockerProvider, jvm: jvmProvider }

/** Real servers with Java set up for load: containers, or processes of this machine's Java. TEST_BACKENDS names one of the two. */
const providers = () => {
  const only = process.env['TEST_BACKENDS']
  if (only === undefined) return Object.values(PROVIDERS)
  return Object.entries(PROVIDERS).flatMap(([name, provider]) => (name === only ? [provider] : []))
}

/** One broker. What is deleted is gone at once: the bench fills a topic after another. */
export const startKafka = (): Promise<Backend> =>
  startFirst(providers(), 'kafka', {
    brokers: 1,
    underLoad: true,
    properties: { 'log.segment.delete.delay.ms': '1000' },
  })

export const startElasticsearch = (): Promise<Backend> =>
  startFirst(providers(), 'elasticsearch', { heap: '2g', underLoad: true })
