import { UNIT_BYTES_MAX, withRoom } from '../../shared/runtime/utf8.ts'

const CAPACITY_BYTES = 16 * 1024
/** Below this many bytes, a loop copies them faster than a native call. */
const SHORT_BYTES = 32

/** Writes JSON in UTF-8 to a buffer that is used again and again: joined texts would keep the garbage collector busy. */
export class JsonWriter {
  #bytes = Buffer.allocUnsafeSlow(CAPACITY_BYTES)
  #length = 0

  get length(): number {
    return this.#length
  }

  clear(): void {
    this.#length = 0
  }

  toString(): string {
    return this.#bytes.toString('utf8', 0, this.#length)
  }

  add(json: string): void {
    this.#makeRoom(json.length * UNIT_BYTES_MAX)
    this.#length += this.#bytes.write(json, this.#length)
  }

  /** The same for JSON in UTF-8. */
  addBytes(json: Buffer, start = 0, end = json.length): void {
    this.#makeRoom(end - start)
    const bytes = this.#bytes
    if (end - start > SHORT_BYTES) json.copy(bytes, this.#length, start, end)
    else for (let from = start, to = this.#length; from < end; from += 1, to += 1) bytes[to] = json[from] ?? 0
    this.#length += end - start
  }

  /** The same for JSON that another one has written. */
  addFrom(other: JsonWriter): void {
    this.addBytes(other.#bytes, 0, other.#length)
  }

  /** The same for JSON that is short and ASCII. */
  addAscii(json: string): void {
    this.#makeRoom(json.length)
    const bytes = this.#bytes
    for (let index = 0, to = this.#length; index < json.length; index += 1, to += 1) bytes[to] = json.charCodeAt(index)
    this.#length += json.length
  }

  /** Adds a string of a text that is short, ASCII, and without escapes. */
  addString(text: string): void {
    this.addAscii('"')
    this.addAscii(text)
    this.addAscii('"')
  }

  #makeRoom(bytes: number): void {
    if (this.#length + bytes > this.#bytes.length) this.#bytes = withRoom(this.#bytes, this.#length, bytes)
  }
}
