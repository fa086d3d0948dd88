import { type Connection, ElasticsearchError, type ElasticsearchRequest } from './connection.ts'

/** An answer about all indices of a pattern but the hidden ones. */
interface Visible<Answer> {
  readonly answer: Answer
  /** The indices that have a block of metadata (`index.blocks.metadata`), so that Elasticsearch tells nobody their settings. */
  readonly hidden: readonly string[]
}

/** `reason` names each blocked index: `index [sluice-flows-v1] blocked by: [FORBIDDEN/9/index metadata (api)];`. */
const HIDDEN = /index \[([\w.-]+)\] blocked by: \[[A-Z_]+\/9\//g

/**
 * Asks about the indices of a pattern. A hidden one fails the whole request, which is then made again without the hidden ones. Rejects with
 * an `ElasticsearchError` that says how to remove the block if the pattern is the name of a single index.
 */
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
    const [first] = hidden
    if (first === undefined) throw error
    // An exclusion counts after a wildcard only.
    if (!pattern.includes('*')) throw blocked(error as ElasticsearchError, first)
    const others = [pattern, ...hidden.map((index) => `-${index}`)].join(',')
    return { answer: await connection.send<Answer>(request(others)), hidden }
  }
}

function blocked({ status, body }: ElasticsearchError, index: string): ElasticsearchError {
  const remedy = `PUT /${index}/_settings {"index.blocks.metadata":null}`
  const fault = `the index ${index} has a block of metadata (index.blocks.metadata), so Elasticsearch tells nothing of it`
  return new ElasticsearchError(`${fault}: remove the block (${remedy}), and try again`, status, body)
}
