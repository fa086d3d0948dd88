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

/**
 * A bound on the work or the memory that a client can ask for: the setting that changes it, or its fixed value, and the effect on a client
 * that exceeds it.
 */
type Limit = readonly [of: string, is: SettingName | string, beyond: string]

const count = (value: number): string => value.toLocaleString('en')
const bytes = (value: number): string =>
  value >= 1024 * 1024 ? `${count(value / 1024 / 1024)} MiB` : `${count(value / 1024)} KiB`
const seconds = (ms: number): string => `${count(ms / 1_000)} s`

/** Every limit that a client can meet. docs/security.md has the same table. */
export const LIMITS: readonly Limit[] = [
  [
    'connections',
    'MAX_CONNECTIONS',
    'each port has its own; idle ones are closed from nine tenths on; at the limit those without a request, else new ones',
  ],
  [
    'connections on the gRPC port',
    `${count(100 * GRPC_CONNECTIONS_SHARE)} % of those`,
    'the same; their clients connect again with their next call',
  ],
  ['time without a request', 'IDLE_TIMEOUT_MS', 'the connection is closed'],
  ['time of a request, to the last byte of its body', 'REQUEST_TIMEOUT_MS', '408'],
  ['time of a body at the ingestion endpoints', 'BODY_TIMEOUT_MS', '408'],
  ['headers', '16 KiB', '431'],
  ['requests that wait on a connection', count(WAITING_MAX), 'ignored; the connection is closed'],
  ['gRPC calls on a connection', count(CALLS_MAX), 'its client waits, or is told to try again'],
  [
    'gRPC calls that a client cancels; a second, from then on',
    `${CANCELLED_MAX.streamResetBurst}; ${CANCELLED_MAX.streamResetRate}`,
    'the connection is closed',
  ],
  [
    'connections on the port of HTTP/1.1 that are refused in HTTP/2 at a time',
    count(REFUSED_AT_ONCE_MAX),
    'refused in HTTP/1.1',
  ],
  ['metadata of a gRPC call', bytes(METADATA_BYTES_MAX), 'the call is reset (ENHANCE_YOUR_CALM)'],
  ['time in which a client reads nothing of its answer', seconds(STALL_TIMEOUT_MS), 'the connection is closed'],
  ['a body as sent', 'MAX_BODY_BYTES', '413'],
  [
    'pieces of a body',
    `${count(PIECES_FREE)}, and one for each ${PIECE_BYTES_MIN} bytes`,
    '`malformed_request`; at twice as many, the connection is closed',
  ],
  ['a body after decompression', 'MAX_INFLATED_BYTES', '413'],
  [
    'frames of a body in zstd',
    `${FRAMES_FREE}, and one for each ${count(FRAME_BYTES_MIN)} bytes as sent; ${count(FRAMES_MAX)}`,
    '`malformed_body`',
  ],
  ['a body of an unknown sender, as sent and after decompression', bytes(UNKNOWN_BODY_BYTES_MAX), 'refused by its key'],
  ['all bodies that are being read', 'BODY_BUFFER_BYTES', '`server_error`, retryable'],
  ['bodies of one Team; of all unknown senders', '3/4 of that; 1/9', '`server_error`, retryable'],
  ['values of a body', count(JSON_LIMITS.values), '413'],
  [
    'members of an object, and levels, in a body over 256 KiB or in Protobuf',
    `${count(JSON_LIMITS.members)}; ${JSON_LIMITS.levels}`,
    '`invalid_request`',
  ],
  [
    'the name of a member, in a JSON body over 256 KiB',
    `${count(JSON_LIMITS.nameCharacters)} characters`,
    '`invalid_request`',
  ],
  ['entries of a Team in a second; bytes of their bodies', 'none, unless an operator sets a quota', '`rate_limited`'],
  ['entries of a batch', 'MAX_BATCH_ENTRIES', '`batch_too_large`'],
  ['log records, events or lines of another client', count(FOREIGN_ENTRIES_MAX), '`batch_too_large`'],
  ['resources and scopes of OpenTelemetry', count(GROUPS_MAX), '`batch_too_large`'],
  ['an entry as its record', 'MAX_ENTRY_BYTES', '`entry_too_large`'],
  ['attributes of a resource or a scope', count(LOOKED_AT_MAX), 'left out'],
  ['correlationKey', `${KEYWORD_BYTES.correlationKey} bytes`, '`invalid_request`'],
  ['entries that wait for the journal', 'PUBLISH_BUFFER_BYTES', '`server_error`, retryable'],
  ['waiting entries of one Team', '3/4 of that', '`server_error`, retryable'],
  ['waiting entries of one request, with their repeated attributes', '3/4 of that', '`batch_too_large`'],
  ['time that a request waits for the journal', 'REQUEST_DEADLINE_MS', '`server_error`, retryable'],
  ['memory of all reads', 'READ_BUFFER_BYTES', 'reads wait'],
  ['memory of the reads of one Team; of all tails and exports', '3/4 of that; 3/4', 'reads wait'],
  ['time of a read', 'READ_DEADLINE_MS', '`query_too_expensive`; the store cancels it'],
  ['reads of a Team that run at once; that wait', `${TEAM_READS_MAX}; ${TEAM_READS_WAITING_MAX}`, '`rate_limited`'],
  [
    'items of a page; bytes of a page',
    `${count(LIMIT_MAX)}; ${bytes(PAGE_BYTES_MAX)}`,
    'the page ends early, with a cursor',
  ],
  ['a long text of an item', `${count(ROW_TEXT_CHARACTERS_MAX)} characters`, 'cut, named in `truncated`'],
  [
    'text of the details of an entry (`…/details`)',
    `${count(CHARACTERS_MAX)} characters`,
    'cut, marked by `cut` and `more`',
  ],
  ['logs of a drawing', count(DRAWN_MAX), 'the drawing says so'],
  ['tails of a Team; exports', `${TAILS_PER_TEAM_MAX}; ${EXPORTS_PER_TEAM_MAX}`, '`server_error`, retryable'],
  [
    'a search; its words and fields; its groups',
    `${count(QUERY_LENGTH_MAX)} characters; ${QUERY_TERMS_MAX}; ${QUERY_DEPTH_MAX} deep`,
    'read as text, and says so',
  ],
  ['words of a phrase that must follow each other', count(PHRASE_WORDS_MAX), 'the others must be in the same text'],
  [
    'the part of a text in which words are searched',
    `${count(FULL_TEXT_CHARACTERS_MAX)} characters`,
    'the rest is shown, not searched',
  ],
  ['values of an entry that a search by field finds', count(LEAVES_MAX), 'the rest is shown, not searched'],
  [
    'failed sign-ins of a client; of all',
    `${PER_CLIENT.burst}, then one in ${seconds(PER_CLIENT.refillMs)}; ${OVERALL.burst}, then one in ${seconds(OVERALL.refillMs)}`,
    '`too_many_attempts`',
  ],
  [
    'keys that a Team creates in 24 hours; live keys',
    `${OWN_KEYS_MAX}; ${LIVE_KEYS_MAX}`,
    '`rate_limited`; `conflict`',
  ],
  ['Events, Steps and Projects that a Team creates', `${count(OWN_ITEMS_MAX)} each`, '`conflict`'],
  ['changes that a Team makes in 24 hours', count(TEAM_CHANGES_MAX), '`rate_limited`'],
  ['waiting changes; of one Team', `${CHANGES.waitingMax}; ${CHANGES.teamWaitingMax}`, '`server_error`, retryable'],
  ['watches of a Team; of all', `${WATCHES_MAX}; ${count(ALL_WATCHES_MAX)}`, '`conflict`'],
  [
    'refused logs that are shown to a Team',
    count(RING_LIMITS.perTeamMax),
    'the oldest one of the most frequent code is dropped',
  ],
]
