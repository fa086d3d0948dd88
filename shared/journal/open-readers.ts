/** A reader of a journal. */
export interface Closeable {
  close(): Promise<void>
}

/** Remembers a reader among the open ones until it is closed. */
export function keptIn<Reader extends Closeable>(open: Set<Closeable>, reader: Reader): Reader {
  open.add(reader)
  const close = async (): Promise<void> => {
    open.delete(reader)
    await reader.close()
  }
  return { ...reader, close }
}
