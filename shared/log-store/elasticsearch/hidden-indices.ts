import { type Connection, ElasticsearchError, type ElasticsearchRequest } from './connection.ts'

/** An answer about all indices of a pattern but the hidden ones. */
interface Visible<Answer> {
  readonly answer: Answer
  /** The indices that have a block of metadata (`index.blocks.metadata`), so that Elasticsearch tells nobody their settings. */
  readonly hidden: readonly string[]
}

/** `reason` names each blocked index: `index [sluice-flows-v1] blocked by: [FORBIDDEN/9/index metadata (api)];`. */
const HIDDEN = /index \[([\w.-]+)\] blocked by: \[[A-Z_]+\/9\//g

/** Asks about the indices of a pattern. A hidden one fails the whole request, which is then made again without the hidden ones. */
export async function askVisible<Answer>(
  connection: Pick<Connection, 'send'>,
  pattern: string,
  request: (indices: string) => ElasticsearchRequest,
): Promise<Visible<Answer>> {
  try {
    return { answer: await connection.send<Answer>(request(pattern)), hidden: [] }
  } catch (error) {
    const reason = error instanceof ElasticsearchError && error.status === 403 ? error.body.reason : undefined
    const hidden = [...(reason ?? '').matchAll(HIDDEN)].map(([, index = '']) => index)
    // An exclusion counts after a wildcard only.
    if (hidden.length === 0 || !pattern.includes('*')) throw error
    const others = [pattern, ...hidden.map((index) => `-${index}`)].join(',')
    return { answer: await connection.send<Answer>(request(others)), hidden }
  }
}
