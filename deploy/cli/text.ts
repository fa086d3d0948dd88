/** Control characters, and those that turn the direction of text around. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}]/gu

/** Text that is safe for a terminal: the content of a record must not move the cursor, change colours or reorder what is shown. */
export const printable = (text: string): string => text.replace(UNSAFE, '\ufffd')

/** A value as JSON that is safe for a terminal as well, with a line end. `indent`: blanks for each level; omitted: all is one line. */
export const json = (value: unknown, indent?: number): string =>
  `${JSON.stringify(value, null, indent).replace(UNSAFE, escaped)}\n`

/** The only line ends in JSON are those between its values. */
const escaped = (character: string): string =>
  character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** `1 change`, `2 changes`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

/** Rows in aligned columns, two spaces apart; the last column is not padded. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** Text in the form of code in Markdown. */
export const code = (text: string): string => `\`${text}\``

/** A table in Markdown. */
export function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}
