import { startElasticsearch, startKafka } from '../../bench/stack/servers.ts'
import { startEmbedded } from './embedded-target.ts'
import { startFull } from './full-target.ts'
import type { Target, TargetOptions } from './target.ts'

/** One process, or three on Kafka and Elasticsearch. */
export type Mode = 'embedded' | 'full'

/** Starts programs of one mode; in the full mode they share servers. */
export interface Programs {
  start(options: TargetOptions): Promise<Target>
  stop(): Promise<void>
}

export async function programsOf(mode: Mode): Promise<Programs> {
  if (mode === 'embedded') return { start: startEmbedded, stop: async () => {} }
  const [kafka, elasticsearch] = await Promise.all([startKafka(), startElasticsearch()])
  const servers = { brokers: kafka.address.split(','), elasticsearchUrl: elasticsearch.address }
  return {
    start: (options) => startFull(servers, options),
    stop: async () => void (await Promise.all([kafka.stop(), elasticsearch.stop()])),
  }
}
