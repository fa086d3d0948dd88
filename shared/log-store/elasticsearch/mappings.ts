/**
 * The mappings of the indices. Field types and settings are limited to those that every distribution of Elasticsearch has: no scripts, no
 * ILM, no data streams, no types of the commercial modules.
 */
export interface TemplateOptions {
  readonly replicas: number
  /** Primary shards of a day's index. */
  readonly shards: number
  /** Primary shards of the index of flows, from its next generation (rebuild.ts) on. */
  readonly flowsShards: number
  readonly refreshIntervalMs: number
}

export interface Template {
  readonly kind: 'component' | 'index'
  readonly name: string
  readonly body: Readonly<Record<string, unknown>>
}

/** Increased with every change of a template, so that an operator sees which release wrote it. */
const TEMPLATE_VERSION = 6
/** The priority is above those of the built-in templates (100 to 200), so that none of them wins for a pattern such as `logs-*`. */
const PRIORITY = 500

/**
 * A Lucene term has at most 32,766 bytes, and a UTF-16 code unit at most three in UTF-8, so no keyword of this length can be refused. The
 * projections cut far below this; here it only keeps a mistake there from costing a document.
 */
const KEYWORD = { type: 'keyword', ignore_above: 8_191 } as const
/** Aggregated by value, never searched. */
const COUNTED = { ...KEYWORD, index: false } as const
/** Leaves are searched; `values` repeats them for aggregations: an existing field can get another subfield, but no doc values. */
const LEAVES = { ...KEYWORD, doc_values: false, fields: { values: COUNTED } } as const
/** The words are already split, by the splitter that all stores share. Relevance is never used, so norms would be wasted. */
const WORDS = { type: 'text', analyzer: 'whitespace', norms: false } as const
const INSTANT = { type: 'date_nanos' } as const

export const ENTRY_MAPPINGS = {
  dynamic: 'false',
  properties: {
    id: KEYWORD,
    team: KEYWORD,
    receivedAt: INSTANT,
    timestamp: INSTANT,
    level: { type: 'byte' },
    environment: KEYWORD,
    correlationKey: KEYWORD,
    event: KEYWORD,
    step: KEYWORD,
    project: KEYWORD,
    category: KEYWORD,
    eventId: { type: 'integer' },
    eventName: KEYWORD,
    template: KEYWORD,
    exceptionGroup: KEYWORD,
    message: WORDS,
    exception: WORDS,
    payload: WORDS,
    details: WORDS,
    payloadLeaves: LEAVES,
    scopeLeaves: LEAVES,
    payloadNumbers: COUNTED,
    scopeNumbers: COUNTED,
    // Never parsed: the text in it is kept and returned exactly.
    source: { type: 'object', enabled: false },
  },
} as const

export const FLOW_MAPPINGS = {
  dynamic: 'false',
  properties: {
    team: KEYWORD,
    correlationKey: KEYWORD,
    /** The key in lower case, to find a part of it in any case. */
    keyFolded: KEYWORD,
    firstAt: INSTANT,
    lastAt: INSTANT,
    days: KEYWORD,
    /** The last of `days`, for retention. */
    lastDay: KEYWORD,
    worstLevel: { type: 'byte' },
    /** From the first to the last entry, in milliseconds. */
    duration: { type: 'long' },
    failed: { type: 'boolean' },
    environments: KEYWORD,
    events: KEYWORD,
    steps: KEYWORD,
    projects: KEYWORD,
  },
} as const

/** The templates of an installation, in the order in which they have to be created. */
export function templates(prefix: string, options: TemplateOptions): readonly Template[] {
  const common = {
    'index.number_of_replicas': String(options.replicas),
    // Explicit, so that an index is refreshed even if it was not searched for a while; otherwise a tail would wait for its first refresh.
    'index.refresh_interval': `${options.refreshIntervalMs}ms`,
    // This also limits the length of prefixes in searches; the default of 1,000 is less than a search may have.
    'index.max_regex_length': String(KEYWORD.ignore_above),
  }
  return [
    component(`${prefix}-entries-v1`, {
      mappings: ENTRY_MAPPINGS,
      settings: {
        ...common,
        'index.number_of_shards': String(options.shards),
        // Halves disk usage; the cost of writing was not measurable.
        'index.codec': 'best_compression',
      },
    }),
    component(`${prefix}-flows-v1`, {
      mappings: FLOW_MAPPINGS,
      settings: { ...common, 'index.number_of_shards': String(options.flowsShards) },
    }),
    index(prefix, 'event-logs', 'entries', '-*'),
    index(prefix, 'application-logs', 'entries', '-*'),
    index(prefix, 'flows', 'flows', ''),
  ]
}

function component(name: string, template: object): Template {
  return { kind: 'component', name, body: { version: TEMPLATE_VERSION, template } }
}

/** `names` matches the part of the indices' names after the version; further generations (rebuild.ts) begin it with a dot. */
function index(prefix: string, name: string, from: 'entries' | 'flows', names: string): Template {
  const custom = [`${prefix}-custom`, `${prefix}-${from}-custom`]
  const body = {
    version: TEMPLATE_VERSION,
    priority: PRIORITY,
    // A write makes its day, also in a cluster whose `action.auto_create_index` is false.
    allow_auto_create: true,
    index_patterns: [`${prefix}-${name}-v1${names}`, `${prefix}-${name}-v1.*`],
    // The operator's own components come last and take precedence: allocation, a codec; for the days alone, a lifecycle policy.
    composed_of: [`${prefix}-${from}-v1`, ...custom],
    ignore_missing_component_templates: custom,
  }
  return { kind: 'index', name: `${prefix}-${name}-v1`, body }
}
