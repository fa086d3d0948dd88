import protobuf from 'protobufjs'

/** The messages of opentelemetry-proto and google.rpc used in requests and responses, as defined in their sources. */
const { root } = protobuf.parse(`
  syntax = "proto3";
  message ExportLogsServiceRequest { repeated ResourceLogs resource_logs = 1; }
  message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; string schema_url = 3; }
  message Resource { repeated KeyValue attributes = 1; uint32 dropped_attributes_count = 2; }
  message ScopeLogs { InstrumentationScope scope = 1; repeated LogRecord log_records = 2; string schema_url = 3; }
  message InstrumentationScope {
    string name = 1; string version = 2; repeated KeyValue attributes = 3; uint32 dropped_attributes_count = 4;
  }
  message LogRecord {
    fixed64 time_unix_nano = 1; fixed64 observed_time_unix_nano = 11; int32 severity_number = 2; string severity_text = 3;
    AnyValue body = 5; repeated KeyValue attributes = 6; uint32 dropped_attributes_count = 7; fixed32 flags = 8;
    bytes trace_id = 9; bytes span_id = 10; string event_name = 12;
  }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue {
    oneof value {
      string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
      ArrayValue array_value = 5; KeyValueList kvlist_value = 6; bytes bytes_value = 7;
    }
  }
  message ArrayValue { repeated AnyValue values = 1; }
  message KeyValueList { repeated KeyValue values = 1; }

  message ExportLogsServiceResponse { ExportLogsPartialSuccess partial_success = 1; }
  message ExportLogsPartialSuccess { int64 rejected_log_records = 1; string error_message = 2; }
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message Any { string type_url = 1; bytes value = 2; }
  message ErrorInfo { string reason = 1; string domain = 2; map<string, string> metadata = 3; }
  message RetryInfo { Duration retry_delay = 1; }
  message Duration { int64 seconds = 1; int32 nanos = 2; }
`)

// Tests also create requests that are nested too deeply.
Object.assign(protobuf.util, { recursionLimit: 1_000 })

const REQUEST = root.lookupType('ExportLogsServiceRequest')
const RESPONSE = root.lookupType('ExportLogsServiceResponse')
const STATUS = root.lookupType('Status')

/** Converts an OTLP request from JSON to the binary encoding. */
export const protobufOf = (json: unknown): Buffer =>
  Buffer.from(REQUEST.encode(REQUEST.fromObject(withBytes(json) as Record<string, unknown>)).finish())

/** Converts ids from hexadecimal to bytes, and replaces lone surrogates, which Protobuf cannot represent. */
function withBytes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withBytes)
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [
      name,
      name === 'traceId' || name === 'spanId' ? Buffer.from(String(child), 'hex') : withBytes(child),
    ]),
  )
}

/** Decodes a binary Status to its JSON form. Throws for invalid bytes. */
export function statusOf(bytes: Uint8Array): unknown {
  const status = STATUS.toObject(STATUS.decode(bytes), { arrays: true })
  const details = (status['details'] as { typeUrl: string; value: Uint8Array }[]).map(({ typeUrl, value }) => {
    const type = root.lookupType(typeUrl.slice(typeUrl.lastIndexOf('.') + 1))
    return { '@type': typeUrl, ...type.toObject(type.decode(value), { longs: String }) }
  })
  return { ...status, details }
}

/** Decodes a binary ExportLogsServiceResponse to its JSON form. Throws for invalid bytes. */
export const responseOf = (bytes: Uint8Array): unknown => RESPONSE.toObject(RESPONSE.decode(bytes), { longs: String })
