import { DatabaseSync } from 'node:sqlite'
import { type Content, packBlock, unpackBlock } from '../../shared/log-store/sqlite/block-codec.ts'
import { valuesOfRow, wholeSource } from '../../shared/log-store/sqlite/sources.ts'

type WholeContent = Omit<Content, 'source'> & { readonly source: string }

/** The contents of all entries in the file of a log store, in the order of arrival: those in blocks, and those that an older version left. */
export function contentsIn(database: DatabaseSync): readonly WholeContent[] {
  const packed = database.prepare('SELECT first, content FROM blocks').all()
  const old = database.prepare('SELECT arrival, leaves, source FROM contents').all()
  return [
    ...packed.flatMap(({ first, content }) => unpackBlock(Number(first), content)?.all() ?? []),
    ...old.map(({ arrival, leaves, source }) => ({
      arrival: Number(arrival),
      leaves: leaves as Uint8Array | null,
      source: Buffer.from(String(source)),
    })),
  ]
    .map(({ arrival, leaves, source }) => ({
      arrival,
      leaves,
      source: wholeSource(Buffer.from(source).toString(), () => valuesOfRow(database, arrival)),
    }))
    .sort((a, b) => a.arrival - b.arrival)
}

/** Converts the file of a log store to what version 5 left behind: blocks of whole sources. Nothing else may have it open. */
export function toVersion5(database: DatabaseSync): void {
  const contents = contentsIn(database).map(({ source, ...content }) => ({ ...content, source: Buffer.from(source) }))
  database.exec('DELETE FROM blocks; PRAGMA user_version = 5')
  const insert = database.prepare('INSERT INTO blocks (first, last, bytes, content) VALUES (?, ?, ?, ?)')
  for (const content of contents)
    insert.run(content.arrival, content.arrival, content.source.length, packBlock([content]))
}

/** Converts the file of a log store to what version 3 left behind: without blocks and `counted_entries`. Nothing else may have it open. */
export function toVersion3(database: DatabaseSync): void {
  const contents = contentsIn(database)
  database.exec('DROP TABLE blocks; DELETE FROM contents; DROP TABLE counted_entries; PRAGMA user_version = 3')
  const insert = database.prepare('INSERT INTO contents (arrival, leaves, source) VALUES (?, ?, ?)')
  for (const { arrival, leaves, source } of contents) insert.run(arrival, leaves, source)
}

/** Changes rows as damage may, to values that are not of their columns' types. */
export function damage(file: string, update: string): void {
  const inFile = (sql: string): void => {
    const database = new DatabaseSync(file)
    database.enableDefensive(false)
    database.exec(sql)
    database.close()
  }
  const inSchema = (from: string, to: string): void =>
    inFile(`PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '${from}', '${to}')`)
  inSchema('STRICT', '/* */')
  inFile(update)
  inSchema('/* */', 'STRICT')
}
