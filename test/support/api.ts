/** A response body of the service: the envelope of every response. */
export interface Envelope<Data = Record<string, unknown>> {
  readonly success: boolean
  readonly data: Data
  readonly error: {
    readonly code: string
    readonly message: string
    readonly details: unknown
    readonly retryable: boolean
  }
}

export interface Item {
  readonly id: string
  readonly kind: string
  readonly payload?: string
  readonly message?: string
  readonly timestamp?: string
  readonly correlationKey?: string | null
}

export interface List {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

export interface Client {
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Envelope>
  get<Data>(path: string): Promise<Envelope<Data>>
  /** All items of a list, over all pages; the path may have parameters. */
  all(path: string): Promise<readonly Item[]>
}

/** A client of a running server with one Team's key. */
export function createClient(url: string, apiKey: string): Client {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const get = async <Data>(path: string): Promise<Envelope<Data>> =>
    (await (await fetch(url + path, { headers })).json()) as Envelope<Data>
  return {
    get,
    post: async (path, body, more = {}) => {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify(body),
      })
      return (await response.json()) as Envelope
    },
    all: async (path) => {
      const items: Item[] = []
      let cursor: string | null = null
      do {
        const query = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
        const joint = path.includes('?') ? '&' : '?'
        const page: Envelope<List> = await get<List>(`${path}${joint}limit=1000${query}`)
        if (!page.success) throw new Error(`${path}: ${page.error.message}`)
        items.push(...page.data.items)
        cursor = page.data.nextCursor
      } while (cursor !== null)
      return items
    },
  }
}

/** Posts logs that have to be accepted, and returns the id of a single one. */
export async function accepted({ post }: Pick<Client, 'post'>, path: string, body: unknown): Promise<string> {
  const { success, data, error } = await post(path, body)
  if (!success) throw new Error(`${path}: ${error.message}`)
  return String(data['id'])
}
