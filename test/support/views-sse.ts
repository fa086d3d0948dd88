import { KEY_A } from './views-fixture.ts'

export interface SseEvent {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: { id?: string; payload?: string; message?: string; count?: number } | undefined
  readonly comment: string | undefined
}

export interface SseReader {
  readonly status: number
  readonly headers: Headers
  /** Blocks received so far, including those without data. */
  readonly blocks: readonly SseEvent[]
  /** Received blocks of this event type. */
  of(event: string): readonly SseEvent[]
  readonly ended: boolean
  close(): void
}

/** Reads a tail as it arrives, like EventSource. */
export async function openTail(url: string, headers: Record<string, string> = {}): Promise<SseReader> {
  const controller = new AbortController()
  const response = await fetch(url, { headers: { 'x-api-key': KEY_A, ...headers }, signal: controller.signal })
  const blocks: SseEvent[] = []
  const reader = {
    status: response.status,
    headers: response.headers,
    blocks,
    of: (event: string) => blocks.filter((block) => block.event === event),
    ended: false,
    close: () => controller.abort(),
  }
  const read = async (): Promise<void> => {
    let rest = ''
    for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const parts = (rest + chunk).split('\n\n')
      rest = parts.pop() ?? ''
      blocks.push(...parts.map(parse))
    }
  }
  read()
    .catch(() => {})
    .finally(() => {
      reader.ended = true
    })
  return reader
}

function parse(block: string): SseEvent {
  const field = (name: string): string | undefined =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}:`))
      ?.slice(name.length + 1)
      .trim()
  const data = field('data')
  return {
    id: field('id'),
    event: field('event'),
    data: data === undefined ? undefined : JSON.parse(data),
    comment: field(''),
  }
}
