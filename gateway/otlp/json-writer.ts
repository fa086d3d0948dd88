import { UNIT_BYTES_MAX, withRoom } from '../../shared/runtime/utf8.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** The first character that JSON writes as it is. */
const SPACE = 0x20
/** Each of four bytes is one; and the highest bit of each. */
const ONES = 0x01010101
const HIGH_BITS = 0x80808080

const CAPACITY_BYTES = 16 * 1024
/** Below this many bytes, a loop copies them faster than a native call. */
const SHORT_BYTES = 32

/** Writes JSON in UTF-8 to a buffer that is used again and again: joined texts would keep the garbage collector busy. */
export class JsonWriter {
  #bytes = Buffer.allocUnsafeSlow(CAPACITY_BYTES)
  #view = viewOf(this.#bytes)
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

  /** Adds JSON. */
  add(json: Buffer, start = 0, end = json.length): void {
    this.#makeRoom(end - start)
    const bytes = this.#bytes
    if (end - start > SHORT_BYTES) json.copy(bytes, this.#length, start, end)
    else for (let from = start, to = this.#length; from < end; from += 1, to += 1) bytes[to] = json[from] ?? 0
    this.#length += end - start
  }

  /** Adds the JSON that another one has written. */
  addFrom(other: JsonWriter): void {
    this.add(other.#bytes, 0, other.#length)
  }

  /** Adds JSON that is short and ASCII. */
  addAscii(json: string): void {
    this.#makeRoom(json.length)
    const bytes = this.#bytes
    for (let index = 0, to = this.#length; index < json.length; index += 1, to += 1) bytes[to] = json.charCodeAt(index)
    this.#length += json.length
  }

  /** Adds a short text as a string, which has to be ASCII without escapes. */
  addPlain(text: string): void {
    this.addAscii('"')
    this.addAscii(text)
    this.addAscii('"')
  }

  /** Adds a text as a string. */
  addText(text: string): void {
    const json = JSON.stringify(text)
    this.#makeRoom(json.length * UNIT_BYTES_MAX)
    this.#length += this.#bytes.write(json, this.#length)
  }

  /** The same for a text in UTF-8 if it is ASCII without escapes; otherwise it adds nothing and returns false. */
  addIfPlain(utf8: Buffer, start: number, end: number): boolean {
    const before = this.#length
    this.addAscii('"')
    this.add(utf8, start, end)
    const isPlain = this.#isPlain(before + 1)
    this.addAscii('"')
    if (!isPlain) this.#length = before
    return isPlain
  }

  /** Whether what was written since is ASCII without escapes. Looks at four bytes at once, as most texts are, and some are long. */
  #isPlain(start: number): boolean {
    const end = this.#length
    let at = start
    for (; at + 4 <= end; at += 4) {
      const four = this.#view.getInt32(at)
      // The highest bit of a byte is set if it is not ASCII, and after these subtractions if it is a control character or one of the others.
      const control = four - SPACE * ONES
      const quote = (four ^ (QUOTE * ONES)) - ONES
      const backslash = (four ^ (BACKSLASH * ONES)) - ONES
      if (((four | control | quote | backslash) & HIGH_BITS) !== 0) return false
    }
    for (; at < end; at += 1) {
      const byte = this.#bytes[at] ?? 0
      if (byte < SPACE || byte === QUOTE || byte === BACKSLASH || byte > 0x7f) return false
    }
    return true
  }

  #makeRoom(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    this.#bytes = withRoom(this.#bytes, this.#length, bytes)
    this.#view = viewOf(this.#bytes)
  }
}

const viewOf = ({ buffer, byteOffset, length }: Buffer): DataView => new DataView(buffer, byteOffset, length)
