export { countText, plural, shortCount, visible } from '../../flow-layout/format.ts'

/** The beginning of a text and whether there is more; never cuts a character in two. */
export function cut(text: string, length: number): { readonly text: string; readonly more: number } {
  if (text.length <= length) return { text, more: 0 }
  const code = text.charCodeAt(length - 1)
  const end = code >= 0xd800 && code <= 0xdbff ? length - 1 : length
  return { text: text.slice(0, end), more: text.length - end }
}
