/** An HTTP/1.1 response; the body as Latin-1, since only its beginning is inspected. */
export interface Answer {
  readonly status: number
  readonly body: string
}

const HEAD_END = '\r\n\r\n'

/**
 * Splits the bytes of a connection into responses, regardless of packet boundaries. Supports responses with a content-length or without a
 * body; throws for chunked ones, which no measured program sends.
 */
export function createAnswerReader(onAnswer: (answer: Answer) => void): (chunk: Buffer) => void {
  let received = ''
  return (chunk) => {
    received += chunk.toString('latin1')
    for (;;) {
      const headEnd = received.indexOf(HEAD_END)
      if (headEnd < 0) return
      const head = received.slice(0, headEnd)
      if (/\r\ntransfer-encoding:/i.test(head)) throw new Error('a chunked answer cannot be read')
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
      const end = headEnd + HEAD_END.length + length
      if (received.length < end) return
      const answer = { status: Number(head.slice(9, 12)), body: received.slice(headEnd + HEAD_END.length, end) }
      received = received.slice(end)
      onAnswer(answer)
    }
  }
}
