import { SeverityNumber } from '@opentelemetry/api-logs'
import { OTLPLogExporter as Grpc } from '@opentelemetry/exporter-logs-otlp-grpc'
import { OTLPLogExporter as Json } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as Protobuf } from '@opentelemetry/exporter-logs-otlp-proto'
import { detectResources, envDetector } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { write } from './entries.ts'

const Exporter = { 'http/json': Json, 'http/protobuf': Protobuf, grpc: Grpc }[process.argv[2] ?? ''] ?? Protobuf

const provider = new LoggerProvider({
  resource: detectResources({ detectors: [envDetector] }),
  processors: [new BatchLogRecordProcessor({ exporter: new Exporter() })],
})
const logger = provider.getLogger('shop.checkout')

await write(['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'], 'ERROR', (level, { message, attributes, error }) => {
  const severityNumber = SeverityNumber[level as keyof typeof SeverityNumber]
  logger.emit({ severityNumber, severityText: level, body: message, attributes, exception: error })
})
await provider.shutdown()
