import type { ErrorCode } from '../contract/errors.ts'

/**
 * The only map from codes to HTTP statuses. The read API and transport failures always use it; the ingestion endpoints of the specification
 * answer 200 (4.1) unless the client sends `X-Strict-Status: true`.
 */
export const STATUS: Readonly<Record<ErrorCode, number>> = {
  missing_api_key: 401,
  missing_identifier: 400,
  missing_payload: 400,
  invalid_log_level: 400,
  entity_not_found: 404,
  team_not_found: 500,
  invalid_api_key: 403,
  missing_project_id: 400,
  invalid_project_id: 400,
  project_not_found: 404,
  invalid_team_config: 403,
  server_error: 503,
  missing_category_name: 400,
  missing_message: 400,
  missing_log_entries: 400,
  batch_too_large: 413,
  invalid_request: 400,
  invalid_timestamp: 400,
  entry_too_large: 413,
  malformed_json: 400,
  malformed_body: 400,
  malformed_request: 400,
  http_version_not_supported: 505,
  expectation_failed: 417,
  unsupported_media_type: 415,
  method_not_allowed: 405,
  not_found: 404,
  payload_too_large: 413,
  headers_too_large: 431,
  conflict: 409,
  cross_origin: 403,
  too_many_attempts: 429,
  rate_limited: 429,
  query_too_expensive: 422,
  request_timeout: 408,
}
