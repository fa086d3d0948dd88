import { UNKNOWN_BODY_BYTES_MAX } from '../../gateway/ingest/body-grants.ts'
import { FOREIGN_ENTRIES_MAX } from '../../gateway/ingest/checks.ts'
import { GROUPS_MAX, LOOKED_AT_MAX } from '../../gateway/otlp/log-records.ts'
import { FULL_TEXT_CHARACTERS_MAX, KEYWORD_BYTES } from '../../shared/contract/keyword.ts'
import { ROW_TEXT_CHARACTERS_MAX } from '../../shared/contract/rows.ts'
import { PIECE_BYTES_MIN, PIECES_FREE } from '../../shared/http/body.ts'
import { FRAME_BYTES_MIN, FRAMES_FREE, FRAMES_MAX } from '../../shared/http/inflate.ts'
import { JSON_LIMITS } from '../../shared/http/json-pieces.ts'
import { PAGE_BYTES_MAX } from '../../shared/log-store/log-store.ts'
import { PHRASE_WORDS_MAX } from '../../shared/query/clause.ts'
import { LEAVES_MAX } from '../../shared/query/leaves.ts'
import { QUERY_DEPTH_MAX, QUERY_LENGTH_MAX, QUERY_TERMS_MAX } from '../../shared/query/parse.ts'
import { LIVE_KEYS_MAX, OWN_KEYS_MAX } from '../../shared/registry/plan-keys.ts'
import { OWN_ITEMS_MAX } from '../../shared/registry/team-admin.ts'
import type { SettingName } from '../../shared/runtime/config-schema.ts'
import { DRAWN_MAX } from '../../views/api/export.ts'
import { LIMIT_MAX } from '../../views/api/parameters.ts'
import { TEAM_READS_MAX, TEAM_READS_WAITING_MAX } from '../../views/api/read-gate.ts'
import { EXPORTS_PER_TEAM_MAX, TAILS_PER_TEAM_MAX } from '../../views/api/streams.ts'
import { CHARACTERS_MAX } from '../../views/details/allowance.ts'
import { RING_LIMITS } from '../../views/refusals/ring.ts'
import { OVERALL, PER_CLIENT } from '../../views/session/attempts.ts'
import { CHANGES, TEAM_CHANGES_MAX } from '../../views/team/register.ts'
import { ALL_WATCHES_MAX, WATCHES_MAX } from '../../views/team/watches.ts'
import { WAITING_MAX } from '../http/connection.ts'
import { STALL_TIMEOUT_MS } from '../http/connection-limits.ts'
import { METADATA_BYTES_MAX } from '../http/grpc-server.ts'
import { CALLS_MAX, CANCELLED_MAX, GRPC_CONNECTIONS_SHARE, REFUSED_AT_ONCE_MAX } from '../http/http2.ts'

/** A bound on the work or the memory that a client can ask for. */
export interface Limit {
  readonly of: string
  /** The setting that changes it, or its fixed value. */
  readonly is: SettingName | string
  /** The effect on a client that exceeds it. */
  readonly beyond: string
}

const count = (value: number): string => value.toLocaleString('en')
const bytes = (value: number): string =>
  value >= 1024 * 1024 ? `${count(value / 1024 / 1024)} MiB` : `${count(value / 1024)} KiB`
const seconds = (ms: number): string => `${count(ms / 1_000)} s`

/** Every limit that a client can meet. docs/security.md has the same table. */
export const LIMITS: readonly Limit[] = [
  {
    of: 'connections',
    is: 'MAX_CONNECTIONS',
    beyond:
      'each port has its own; idle ones are closed from nine tenths on; at the limit those without a request, else new ones',
  },
  {
    of: 'connections on the gRPC port',
    is: `${count(100 * GRPC_CONNECTIONS_SHARE)} % of those`,
    beyond: 'the same; their clients connect again with their next call',
  },
  { of: 'time without a request', is: 'IDLE_TIMEOUT_MS', beyond: 'the connection is closed' },
  { of: 'time of a request, to the last byte of its body', is: 'REQUEST_TIMEOUT_MS', beyond: '408' },
  { of: 'time of a body at the ingestion endpoints', is: 'BODY_TIMEOUT_MS', beyond: '408' },
  { of: 'headers', is: '16 KiB', beyond: '431' },
  {
    of: 'requests that wait on a connection',
    is: count(WAITING_MAX),
    beyond: 'ignored; the connection is closed',
  },
  { of: 'gRPC calls on a connection', is: count(CALLS_MAX), beyond: 'its client waits, or is told to try again' },
  {
    of: 'gRPC calls that a client cancels; a second, from then on',
    is: `${CANCELLED_MAX.streamResetBurst}; ${CANCELLED_MAX.streamResetRate}`,
    beyond: 'the connection is closed',
  },
  {
    of: 'connections on the port of HTTP/1.1 that are refused in HTTP/2 at a time',
    is: count(REFUSED_AT_ONCE_MAX),
    beyond: 'refused in HTTP/1.1',
  },
  { of: 'metadata of a gRPC call', is: bytes(METADATA_BYTES_MAX), beyond: 'the call is reset (ENHANCE_YOUR_CALM)' },
  {
    of: 'time in which a client reads nothing of its answer',
    is: seconds(STALL_TIMEOUT_MS),
    beyond: 'the connection is closed',
  },
  { of: 'a body as sent', is: 'MAX_BODY_BYTES', beyond: '413' },
  {
    of: 'pieces of a body',
    is: `${count(PIECES_FREE)}, and one for each ${PIECE_BYTES_MIN} bytes`,
    beyond: '`malformed_request`; at twice as many, the connection is closed',
  },
  { of: 'a body after decompression', is: 'MAX_INFLATED_BYTES', beyond: '413' },
  {
    of: 'frames of a body in zstd',
    is: `${FRAMES_FREE}, and one for each ${count(FRAME_BYTES_MIN)} bytes as sent; ${count(FRAMES_MAX)}`,
    beyond: '`malformed_body`',
  },
  {
    of: 'a body of an unknown sender, as sent and after decompression',
    is: bytes(UNKNOWN_BODY_BYTES_MAX),
    beyond: 'refused by its key',
  },
  { of: 'all bodies that are being read', is: 'BODY_BUFFER_BYTES', beyond: '`server_error`, retryable' },
  { of: 'bodies of one Team; of all unknown senders', is: '3/4 of that; 1/9', beyond: '`server_error`, retryable' },
  { of: 'values of a body', is: count(JSON_LIMITS.values), beyond: '413' },
  {
    of: 'members of an object, and levels, in a body over 256 KiB or in Protobuf',
    is: `${count(JSON_LIMITS.members)}; ${JSON_LIMITS.levels}`,
    beyond: '`invalid_request`',
  },
  {
    of: 'the name of a member, in a JSON body over 256 KiB',
    is: `${count(JSON_LIMITS.nameCharacters)} characters`,
    beyond: '`invalid_request`',
  },
  {
    of: 'entries of a Team in a second; bytes of their bodies',
    is: 'none, unless an operator sets a quota',
    beyond: '`rate_limited`',
  },
  { of: 'entries of a batch', is: 'MAX_BATCH_ENTRIES', beyond: '`batch_too_large`' },
  { of: 'log records, events or lines of another client', is: count(FOREIGN_ENTRIES_MAX), beyond: '`batch_too_large`' },
  { of: 'resources and scopes of OpenTelemetry', is: count(GROUPS_MAX), beyond: '`batch_too_large`' },
  { of: 'an entry as its record', is: 'MAX_ENTRY_BYTES', beyond: '`entry_too_large`' },
  { of: 'attributes of a resource or a scope', is: count(LOOKED_AT_MAX), beyond: 'left out' },
  { of: 'correlationKey', is: `${KEYWORD_BYTES.correlationKey} bytes`, beyond: '`invalid_request`' },
  { of: 'entries that wait for the journal', is: 'PUBLISH_BUFFER_BYTES', beyond: '`server_error`, retryable' },
  { of: 'waiting entries of one Team', is: '3/4 of that', beyond: '`server_error`, retryable' },
  {
    of: 'waiting entries of one request, with their repeated attributes',
    is: '3/4 of that',
    beyond: '`batch_too_large`',
  },
  { of: 'time that a request waits for the journal', is: 'REQUEST_DEADLINE_MS', beyond: '`server_error`, retryable' },
  { of: 'memory of all reads', is: 'READ_BUFFER_BYTES', beyond: 'reads wait' },
  { of: 'memory of the reads of one Team; of all tails and exports', is: '3/4 of that; 3/4', beyond: 'reads wait' },
  { of: 'time of a read', is: 'READ_DEADLINE_MS', beyond: '`query_too_expensive`; the store cancels it' },
  {
    of: 'reads of a Team that run at once; that wait',
    is: `${TEAM_READS_MAX}; ${TEAM_READS_WAITING_MAX}`,
    beyond: '`rate_limited`',
  },
  {
    of: 'items of a page; bytes of a page',
    is: `${count(LIMIT_MAX)}; ${bytes(PAGE_BYTES_MAX)}`,
    beyond: 'the page ends early, with a cursor',
  },
  {
    of: 'a long text of an item',
    is: `${count(ROW_TEXT_CHARACTERS_MAX)} characters`,
    beyond: 'cut, named in `truncated`',
  },
  {
    of: 'text of the details of an entry (`…/details`)',
    is: `${count(CHARACTERS_MAX)} characters`,
    beyond: 'cut, marked by `cut` and `more`',
  },
  { of: 'logs of a drawing', is: count(DRAWN_MAX), beyond: 'the drawing says so' },
  {
    of: 'tails of a Team; exports',
    is: `${TAILS_PER_TEAM_MAX}; ${EXPORTS_PER_TEAM_MAX}`,
    beyond: '`server_error`, retryable',
  },
  {
    of: 'a search; its words and fields; its groups',
    is: `${count(QUERY_LENGTH_MAX)} characters; ${QUERY_TERMS_MAX}; ${QUERY_DEPTH_MAX} deep`,
    beyond: 'read as text, and says so',
  },
  {
    of: 'words of a phrase that must follow each other',
    is: count(PHRASE_WORDS_MAX),
    beyond: 'the others must be in the same text',
  },
  {
    of: 'the part of a text in which words are searched',
    is: `${count(FULL_TEXT_CHARACTERS_MAX)} characters`,
    beyond: 'the rest is shown, not searched',
  },
  {
    of: 'values of an entry that a search by field finds',
    is: count(LEAVES_MAX),
    beyond: 'the rest is shown, not searched',
  },
  {
    of: 'failed sign-ins of a client; of all',
    is: `${PER_CLIENT.burst}, then one in ${seconds(PER_CLIENT.refillMs)}; ${OVERALL.burst}, then one in ${seconds(OVERALL.refillMs)}`,
    beyond: '`too_many_attempts`',
  },
  {
    of: 'keys that a Team creates in 24 hours; live keys',
    is: `${OWN_KEYS_MAX}; ${LIVE_KEYS_MAX}`,
    beyond: '`rate_limited`; `conflict`',
  },
  { of: 'Events, Steps and Projects that a Team creates', is: `${count(OWN_ITEMS_MAX)} each`, beyond: '`conflict`' },
  { of: 'changes that a Team makes in 24 hours', is: count(TEAM_CHANGES_MAX), beyond: '`rate_limited`' },
  {
    of: 'waiting changes; of one Team',
    is: `${CHANGES.waitingMax}; ${CHANGES.teamWaitingMax}`,
    beyond: '`server_error`, retryable',
  },
  { of: 'watches of a Team; of all', is: `${WATCHES_MAX}; ${count(ALL_WATCHES_MAX)}`, beyond: '`conflict`' },
  {
    of: 'refused logs that are shown to a Team',
    is: count(RING_LIMITS.perTeamMax),
    beyond: 'the oldest one of the most frequent code is dropped',
  },
]
