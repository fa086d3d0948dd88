import type { Problem } from '../api/client.ts'

/** A refusal of a change in words: what is wrong with each field, or the message. */
export function problemText({ message, details }: Problem): string {
  if (!Array.isArray(details)) return message
  return details.map(({ path, message: what }) => `${String(path).replace('/', '')} ${what}.`.trim()).join(' ')
}
