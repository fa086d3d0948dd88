import autocannon from 'autocannon'

export interface Load {
  readonly url: string
  readonly body: string
  readonly headers: Record<string, string>
  readonly connections: number
  readonly seconds: number
  /** Requests a second offered, whatever the answers do; unset: as many as the connections can carry. */
  readonly rate?: number
}

export interface LoadResult {
  readonly answered: number
  readonly requestsPerSecond: number
  /** Milliseconds; under a fixed rate they count from when a request was due, not from when it could be sent. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

/** Sends POST requests and measures their answers; an answer without `"success":true` is a failure. */
export async function runLoad({ url, body, headers, connections, seconds, rate }: Load): Promise<LoadResult> {
  const result = await autocannon({
    url,
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
    connections,
    duration: seconds,
    timeout: 30,
    ...(rate === undefined ? {} : { overallRate: rate }),
    verifyBody: (answer) => String(answer).startsWith('{"success":true'),
  })
  return {
    answered: result['2xx'],
    requestsPerSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    failed: result.errors + result.timeouts + result.non2xx + result.mismatches,
  }
}
